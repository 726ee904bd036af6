import sys
import numpy as np
from fctree import *
from fctree.inspection import *
rng = np.random.default_rng(0)
n=400; k=int(sys.argv[1]); codes=rng.integers(0,k,n)
X=np.c_[rng.normal(size=n),codes,rng.normal(size=n)]; y=X[:,0]+rng.normal(size=k)[codes]
C=sys.argv[3:]
m=(SymmetricBoostingClassifier if C else SymmetricBoostingRegressor)(max_iter=50,categorical_features=[1],random_state=0)
yy=(y>0).astype(int) if C else y
for f in (variable_importance,shapley_importance):
    r=f(m,X,yy,random_state=0,method=sys.argv[2]); print(f.__name__,k,sys.argv[2],r.importances.round(3),flush=True)
# same with stated target: boosting fitted with the category replaced by hand

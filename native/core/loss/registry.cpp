#include "core/loss/registry.hpp"

#include <stdexcept>

namespace fctree {

// One declaration and one entry a loss.
LossInfo squared_error_loss();
LossInfo absolute_error_loss();
LossInfo huber_loss();
LossInfo quantile_loss();
LossInfo poisson_loss();
LossInfo gamma_loss();
LossInfo tweedie_loss();
LossInfo log_loss();

const std::vector<LossInfo>& losses() {
  static const std::vector<LossInfo> all = {
      squared_error_loss(), absolute_error_loss(), huber_loss(), quantile_loss(),
      poisson_loss(),       gamma_loss(),          tweedie_loss(), log_loss(),
  };
  return all;
}

std::unique_ptr<Loss> make_loss(const LossChoice& choice, index_t n_outputs) {
  if (choice.function != nullptr) return make_loss_of(*choice.function);
  for (const LossInfo& info : losses())
    if (choice.name == info.name) return info.make(choice.parameter, n_outputs);
  throw std::invalid_argument("there is no loss named '" + choice.name + "'");
}

}  // namespace fctree

// Shared by all bindings: the translation of C++ exceptions into Python's, and the check for
// signals that the core polls.
#pragma once

#include <Python.h>

#include <new>
#include <stdexcept>

#include "core/errors.hpp"

namespace fctree {

// Sets the Python error for the exception in flight. Call in a catch block, with the GIL.
inline void set_python_error() {
  try {
    throw;
  } catch (const Interrupted&) {
    if (!PyErr_Occurred()) PyErr_SetNone(PyExc_KeyboardInterrupt);
  } catch (const std::invalid_argument& error) {
    PyErr_SetString(PyExc_ValueError, error.what());
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const DeviceError& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  } catch (const std::exception& error) {
    PyErr_Format(PyExc_RuntimeError, "internal error in fctree: %s", error.what());
  } catch (...) {
    PyErr_SetString(PyExc_RuntimeError, "internal error in fctree");
  }
}

// Whether a signal handler raised (Ctrl-C); its error is then set.
inline bool signal_raised() {
  const PyGILState_STATE state = PyGILState_Ensure();
  const bool raised = PyErr_CheckSignals() != 0;
  PyGILState_Release(state);
  return raised;
}

}  // namespace fctree

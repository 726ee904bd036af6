// Shared by all bindings: the translation of C++ exceptions into Python's, and the check for
// signals that the core polls.
#pragma once

#include <Python.h>

#include <chrono>
#include <new>
#include <stdexcept>
#include <thread>

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

// Never returns. For a thread that asks for the GIL while the interpreter ends: Python then ends
// the thread by unwinding its stack, which C++ may not survive; asleep, it ends with the process.
[[noreturn]] inline void sleep_until_the_process_ends() {
  for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
}

inline PyGILState_STATE take_gil() {
  try {
    return PyGILState_Ensure();
  } catch (...) {
    sleep_until_the_process_ends();
  }
}

inline void give_gil(PyGILState_STATE state) { PyGILState_Release(state); }

// A call of Python code from a core that is running. Within it the GIL may be given and taken again,
// in an ending interpreter too.
inline bool call_python(bool (*call)(void* arguments), void* arguments) {
  const PyGILState_STATE state = take_gil();
  bool goes_on = false;
  try {
    goes_on = call(arguments);
  } catch (...) {
    sleep_until_the_process_ends();
  }
  give_gil(state);
  return goes_on;
}

// Lets other Python threads run while it lives.
class ReleasedGil {
 public:
  ReleasedGil() : state_(PyEval_SaveThread()) {}
  ~ReleasedGil() {
    try {
      PyEval_RestoreThread(state_);
    } catch (...) {
      sleep_until_the_process_ends();
    }
  }
  ReleasedGil(const ReleasedGil&) = delete;
  ReleasedGil& operator=(const ReleasedGil&) = delete;

 private:
  PyThreadState* state_;
};

// Whether a signal handler raised (Ctrl-C); its error is then set.
inline bool signal_raised() {
  const PyGILState_STATE state = take_gil();
  const bool raised = PyErr_CheckSignals() != 0;
  give_gil(state);
  return raised;
}

}  // namespace fctree

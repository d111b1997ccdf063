// What Python sees of steps.hpp: matrices that are checked before anything follows their columns, and panels.

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <optional>

#include "steps.hpp"

namespace py = pybind11;

namespace {

using Longs = py::array_t<std::int64_t, py::array::c_style>;
using Ints = py::array_t<std::int32_t, py::array::c_style>;
using Floats = py::array_t<float, py::array::c_style>;
using Doubles = py::array_t<double, py::array::c_style>;

void check_columns(const std::int32_t* columns, std::int64_t count, std::int64_t n) {
  for (std::int64_t j = 0; j < count; ++j)
    if (columns[j] < 0 || columns[j] >= n)
      throw std::invalid_argument("entry " + std::to_string(j) + " is in column " + std::to_string(columns[j]) +
                                  " of a matrix with " + std::to_string(n));
}

void check_pointers(const std::int64_t* pointers, std::int64_t n, std::int64_t entries) {
  if (pointers[0] != 0 || pointers[n] != entries)
    throw std::invalid_argument("row pointers must begin with 0 and end with the number of entries");
  for (std::int64_t row = 0; row < n; ++row)
    if (pointers[row] > pointers[row + 1])
      throw std::invalid_argument("row pointers fall after row " + std::to_string(row));
}

class Operator {
 public:
  // Copies what it is given, so that what was checked stays as it was.
  Operator(const Longs& pointers, const Ints& columns, const Floats& values) {
    if (pointers.ndim() != 1 || columns.ndim() != 1 || values.ndim() != 1 || pointers.size() < 1)
      throw std::invalid_argument("row pointers, columns and values are arrays of one dimension");
    if (columns.size() != values.size()) throw std::invalid_argument("there are not as many columns as values");
    const std::int64_t n = pointers.size() - 1, entries = columns.size();
    if (n > std::numeric_limits<std::int32_t>::max()) throw std::invalid_argument("column numbers have 32 bits");
    const std::int64_t* p = pointers.data();
    const std::int32_t* c = columns.data();
    const float* v = values.data();
    const py::gil_scoped_release release;
    matrix_.rows = n;
    matrix_.entries = entries;
    matrix_.pointers = copy_of(p, n + 1);
    matrix_.columns = copy_of(c, entries);
    matrix_.values = copy_of(v, entries);
    check_pointers(matrix_.pointers.get(), n, entries);
    check_columns(matrix_.columns.get(), entries, n);
    plan(matrix_);
  }

  std::int64_t rows() const { return matrix_.rows; }
  std::int64_t entries() const { return matrix_.entries; }

  std::optional<Doubles> step(Floats previous, const Floats& current, Floats scores, const Floats& coefficient,
                              const std::optional<Floats>& lead, const std::optional<Doubles>& weights,
                              std::array<double, 4> mix, int threads) const {
    if (current.ndim() != 2) throw std::invalid_argument("a panel has two dimensions");
    const std::int64_t width = current.shape(1);
    functions_for(width);
    for (const Floats* panel : {&current, static_cast<const Floats*>(&previous), static_cast<const Floats*>(&scores)})
      if (panel->ndim() != 2 || panel->shape(0) != matrix_.rows || panel->shape(1) != width)
        throw std::invalid_argument("panels must be [" + std::to_string(matrix_.rows) + ", W] with one W");
    if (coefficient.ndim() != 1 || coefficient.size() != width || (lead && (lead->ndim() != 1 || lead->size() != width)))
      throw std::invalid_argument("there must be one coefficient for each column");
    if (weights && (weights->ndim() != 1 || weights->size() != matrix_.rows))
      throw std::invalid_argument("there must be one weight for each row");
    Step step{&matrix_, previous.mutable_data(), current.data(), scores.mutable_data(), coefficient.data(),
              lead ? lead->data() : nullptr, weights ? weights->data() : nullptr, mix, nullptr, nullptr};
    if (overlap(step.previous, step.current, width) || overlap(step.previous, step.scores, width) ||
        overlap(step.scores, step.current, width))
      throw std::invalid_argument("panels must not share memory");
    std::optional<Doubles> norms;
    if (weights) {
      norms.emplace(std::vector<py::ssize_t>{2, static_cast<py::ssize_t>(width)});
      std::fill_n(norms->mutable_data(), 2 * width, 0.0);
    }
    double* total = norms ? norms->mutable_data() : nullptr;
    {
      const py::gil_scoped_release release;
      const std::int64_t blocks = static_cast<std::int64_t>(matrix_.first_row.size()) - 1;
      const std::unique_ptr<float[]> pieces(new float[matrix_.piece.size() * width]);
      const std::unique_ptr<double[]> parts(new double[weights ? blocks * 2 * width : 0]);
      step.pieces = pieces.get();
      step.norms = parts.get();
      run(step, width, threads);
      if (total != nullptr)  // block after block, whoever worked on them
        for (std::int64_t i = 0; i < blocks * 2 * width; ++i) total[i % (2 * width)] += parts[i];
    }
    return norms;
  }

 private:
  bool overlap(const float* left, const float* right, std::int64_t width) const {
    const auto a = reinterpret_cast<std::uintptr_t>(left), b = reinterpret_cast<std::uintptr_t>(right);
    const std::uintptr_t bytes = sizeof(float) * static_cast<std::uintptr_t>(matrix_.rows * width);
    return a < b + bytes && b < a + bytes;
  }

  Matrix matrix_;
};

Floats panel(std::int64_t rows, std::int64_t width) {
  if (rows < 0 || width < 1 || rows > std::numeric_limits<std::int64_t>::max() / 1024 / width)
    throw std::invalid_argument("a panel has one column or more");
  auto* memory = static_cast<float*>(allocate(sizeof(float) * static_cast<std::size_t>(rows * width)));
  const py::capsule owner(memory, [](void* p) { std::free(p); });
  return Floats({rows, width}, memory, owner);
}

}  // namespace

PYBIND11_MODULE(_native, m) {
  m.doc() = "Fused steps of Chebyshev series over CSR matrices.";
  m.def("missing", &missing, "What this processor lacks; empty where it lacks nothing.");
  m.def("panel", &panel, "Uninitialised float32 [rows, width], on 2 MB pages where possible.");
  py::class_<Operator>(m, "Operator")
      .def(py::init<const Longs&, const Ints&, const Floats&>(), py::arg("pointers").noconvert(),
           py::arg("columns").noconvert(), py::arg("values").noconvert())
      .def_property_readonly("rows", &Operator::rows)
      .def_property_readonly("entries", &Operator::entries)
      .def("step", &Operator::step, py::arg("previous").noconvert(), py::arg("current").noconvert(),
           py::arg("scores").noconvert(), py::arg("coefficient").noconvert(), py::arg("lead").noconvert(),
           py::arg("weights").noconvert(), py::arg("mix"), py::arg("threads"));
}

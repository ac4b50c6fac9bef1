"""Linear programs whose constraints are differences of variables, solved by HiGHS."""

from collections.abc import Sequence
from dataclasses import dataclass

import highspy
import numpy

__all__ = ["DifferenceProgram"]


@dataclass(frozen=True)
class DifferenceProgram:
    """Minimize the sum of ``costs[k] * x[k]`` with each ``x[k]`` within ``bounds[k]`` (numpy.inf: none)."""

    costs: Sequence[float]
    bounds: Sequence[tuple[float, float]]
    rows: Sequence[tuple[int, int, float]] = ()  #: (i, j, high): x[i] - x[j] <= high
    equal: Sequence[tuple[int, int, float, float]] = ()  #: (i, j, c, value) with i != j: x[i] - c * x[j] = value
    integral: Sequence[int] = ()  #: variables that must be integers

    def solve(self) -> numpy.ndarray:
        """The variables at a vertex of least cost. Raises RuntimeError where there is none."""
        solver = highspy.Highs()
        solver.setOptionValue("output_flag", False)
        # one thread: the programs are small, and the vertex must not depend on the machine
        solver.setOptionValue("threads", 1)
        if not self.integral:
            solver.setOptionValue("solver", "simplex")
        solver.passModel(self._model())
        solver.run()
        status = solver.getModelStatus()
        if status != highspy.HighsModelStatus.kOptimal:
            raise RuntimeError(f"the linear program failed: {solver.modelStatusToString(status)}")
        return numpy.array(solver.getSolution().col_value)

    def _model(self) -> highspy.HighsLp:
        rows = [*((first, second, 1.0, high) for first, second, high in self.rows), *self.equal]
        model = highspy.HighsLp()
        model.num_col_, model.num_row_ = len(self.costs), len(rows)
        model.col_cost_ = numpy.array(self.costs, dtype=float)
        low, high = numpy.array(self.bounds, dtype=float).reshape(-1, 2).T
        model.col_lower_, model.col_upper_ = low.copy(), high.copy()
        limits = numpy.array([row[3] for row in rows], dtype=float)
        model.row_lower_ = numpy.where(numpy.arange(len(rows)) < len(self.rows), -numpy.inf, limits)
        model.row_upper_ = limits
        self._fill(model, rows)
        if self.integral:
            kinds = [highspy.HighsVarType.kContinuous] * len(self.costs)
            for variable in self.integral:
                kinds[variable] = highspy.HighsVarType.kInteger
            model.integrality_ = kinds
        return model

    @staticmethod
    def _fill(model, rows) -> None:
        """The matrix by rows. A variable minus itself becomes an empty row, as HiGHS accepts each matrix entry only
        once."""
        starts, columns, values = [0], [], []
        for first, second, factor, _ in rows:
            if first != second:
                columns += [first, second]
                values += [1.0, -factor]
            starts.append(len(columns))
        model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        model.a_matrix_.num_col_, model.a_matrix_.num_row_ = model.num_col_, model.num_row_
        model.a_matrix_.start_ = numpy.array(starts, dtype=numpy.int32)
        model.a_matrix_.index_ = numpy.array(columns, dtype=numpy.int32)
        model.a_matrix_.value_ = numpy.array(values, dtype=float)

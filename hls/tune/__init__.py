"""The search for a design: knobs of a program, points of their space, and a study that keeps what was found."""

from .knobs import Knob, find_knobs
from .points import Area, Point, Problem
from .search import Goal, Outcome, Tuning, tune
from .study import Study, StudyError

__all__ = ["Area", "Goal", "Knob", "Outcome", "Point", "Problem", "Study", "StudyError", "Tuning", "find_knobs", "tune"]

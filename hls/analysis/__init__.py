"""Analyses: they compute facts about IR and change nothing; every module answers one question."""

"""The analytical model of Wang et al., "A Performance Analysis Framework for Optimizing OpenCL Applications on FPGAs"
(HPCA 2016), to compare with :mod:`hls.model.estimate`: its 24 equations as printed and as corrected
(docs/rationale/model.md)."""

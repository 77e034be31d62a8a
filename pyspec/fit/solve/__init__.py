"""What solves: the stages of a fit, the native solver, the search over jumps, covariance."""

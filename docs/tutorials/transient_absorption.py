# %% [markdown]
# # A transient absorption trace
#
# A sample is excited by a short pulse, and the change of its absorbance at one wavelength is
# followed over time. The pulses have a duration, so the signal does not rise at once: what is
# measured is the law convolved with the instrument response. We simulate such a trace with two
# decays, fit it with one and with two, and ask which of the two the data support.

# %%
import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import f as f_distribution

from pyspec import File, Project, Simulator, load_time_model

# %% [markdown]
# ## The model
#
# `gaussIRF` is a Gaussian response of standard deviation `SD`. It is exact: time zero may lie
# between two samples. Each `expFun` is a decay of amplitude `A` and time constant `tau`. Both
# start at the same time zero, `t0`.

# %%
MODEL = """
one:
  gaussIRF: {SD: [0.1, True, 0.01, 1]}
  expFun: {A: [5, True, -50, 50], tau: [5, True, 0.1, 1000], t0: [0, True, -1, 1]}
two:
  gaussIRF: {SD: [0.1, True, 0.01, 1]}
  expFun: {A: [5, True, -50, 50], tau: [1, True, 0.1, 20], t0: [0, True, -1, 1]}
  expFun: {A: [2, True, -50, 50], tau: [50, True, 5, 1000], t0: ["expFun_01_t0"]}
"""

# %% [markdown]
# ## Data
#
# The delays are dense around time zero and spread over decades afterwards, as is usual.

# %%
delays = np.concatenate([np.arange(-1, 2, 0.05), np.geomspace(2, 400, 50)])
truth = load_time_model(MODEL, "two")
truth.set_axes(time=delays)
true_values = {
    "gaussIRF_SD": 0.15,
    "expFun_01_A": 6.0,
    "expFun_01_tau": 1.8,
    "expFun_01_t0": 0.12,
    "expFun_02_A": 3.0,
    "expFun_02_tau": 60.0,
}
truth.set_values(true_values)
sigma = 0.15
_, data, _ = Simulator(
    truth, noise_level=sigma / truth.evaluate().max(), noise_type="gaussian", seed=1
).simulate()

figure, ax = plt.subplots(figsize=(6, 3))
ax.plot(delays, data, ".", ms=3)
ax.set_xscale("symlog", linthresh=1)
ax.set_xlabel("delay (ps)")
ax.set_ylabel("ΔA (mOD)")
plt.show()

# %% [markdown]
# ## Fits with one and two decays

# %%
labels, units = {"time": "delay", "data": "ΔA"}, {"time": "ps", "data": "mOD"}
file = File(
    Project(show_output=0), name="film, 520 nm", data=data, time=delays, labels=labels, units=units
)
file.set_noise("gaussian", sigma=sigma)
one = file.fit_trace(MODEL, "one")
file.plot_fit()

# %%
two = file.fit_trace(MODEL, "two")
file.plot_fit()

# %% [markdown]
# ## Which one?
#
# The residual of the first fit has structure, and its reduced chi² is far above 1. Numbers say
# the same. A lower AIC or BIC is better; both count the added parameters against the second
# model. The F test asks how often noise alone would improve chi² this much.

# %%
for fit in (one, two):
    numbers = fit.statistics
    print(f"{fit.model_name}: reduced χ² {fit.redchi:6.3f}", end="  ")
    print(f"AIC {numbers['aic']:8.1f}  BIC {numbers['bic']:8.1f}")

added, left = two.n_free - one.n_free, two.n_data - two.n_free
ratio = (one.chisqr - two.chisqr) / added / (two.chisqr / left)
print(f"F = {ratio:.0f}, probability by chance {f_distribution.sf(ratio, added, left):.1e}")

# %% [markdown]
# ## Values and errors

# %%
two

# %%
for name, true in true_values.items():
    found, error = two.values[name], two.stderr[name] or np.nan
    print(
        f"{name:14} {found:8.3f} ± {error:.3f}   true {true:6.2f}   {(found - true) / error:+.1f} σ"
    )

# %% [markdown]
# # A photoemission experiment over energy and delay
#
# A doublet on a background is measured at many delays between a pump and a probe pulse. After
# time zero the first peak loses height and shifts; the second follows it. We simulate such
# a measurement, look at it, fit one spectrum, and then fit all spectra with one model.
#
# The noise is known here, so that the fit can say whether the model is good enough.

# %%
import numpy as np

from pyspec import File, Project, Simulator, load_dynamics, load_model
from pyspec.plot import plot_components, plot_moving

# %% [markdown]
# ## The model
#
# A parameter is `[value, vary, min, max]`, or an expression of others. The section `parameters`
# holds quantities that several parts of the model share: here the time constant, time zero and the
# duration of the instrument response. The peaks come first, then the two time laws.

# %%
MODEL = """
parameters:
  tau: [5, True, 0.5, 50]
  time_zero: [0, True, -2, 2]
  response: [0.5, True, 0.05, 3]
doublet:
  Offset: {y0: [5, True, 0, 50]}
  GLP: {A: [15, True, 0, 100], x0: [84.2, True, 82, 86], F: [1, True, 0.2, 4], m: [0.3, True, 0, 1]}
  GLP: {A: ["3/4 * GLP_01_A"], x0: ["GLP_01_x0 + 3.67"], F: ["GLP_01_F"], m: ["GLP_01_m"]}
loss:
  gaussIRF: {SD: ["response"]}
  expFun: {A: [-4, True, -50, 50], tau: ["tau"], t0: ["time_zero"]}
shift:
  gaussIRF: {SD: ["response"]}
  expFun: {A: [0.1, True, -5, 5], tau: ["tau"], t0: ["time_zero"]}
"""

# %% [markdown]
# ## Data
#
# `truth` is the same model with other values. The simulator adds noise whose standard deviation is
# 2 % of the largest value. With your own data this step is `scan = read("scan.csv")` and
# `File.from_dataset(scan)`.

# %%
truth = load_model(MODEL, "doublet")
truth.add_dynamics("GLP_01_A", load_dynamics(MODEL, "loss", "GLP_01_A"))
truth.add_dynamics("GLP_01_x0", load_dynamics(MODEL, "shift", "GLP_01_x0"))
truth.set_axes(energy=np.linspace(80, 92, 121), time=np.linspace(-5, 30, 71))
true_values = {"GLP_01_A": 20, "GLP_01_x0": 84, "tau": 8, "time_zero": 0.3, "response": 0.7}
truth.set_values(true_values)
clean, data, _ = Simulator(truth, noise_level=0.02, noise_type="gaussian", seed=3).simulate()

file = File(
    Project(show_output=0),
    name="scan 12",
    data=data,
    energy=truth.energy,
    time=truth.time,
    labels={"energy": "binding energy", "time": "delay", "data": "intensity"},
    units={"energy": "eV", "time": "ps", "data": "counts/s"},
)
file.set_noise("gaussian", sigma=0.02 * clean.max())
file.plot_data()

# %% [markdown]
# ## The baseline
#
# The mean of the spectra before time zero gives good start values for the peaks. At this point the
# model has no time laws yet.

# %%
file.define_baseline(-5, -2)
file.load_model(MODEL, "doublet")
baseline = file.fit_baseline("doublet")
baseline

# %%
plot_components(baseline)

# %% [markdown]
# ## All spectra at once
#
# Now the two time laws are added, and one fit takes all the spectra together. It starts
# from the baseline.

# %%
file.add_time_dependence("doublet", "GLP_01_A", MODEL, "loss")
file.add_time_dependence("doublet", "GLP_01_x0", MODEL, "shift")
result = file.fit_2d("doublet")
result

# %%
file.plot_fit()

# %% [markdown]
# The residual map is in units of the noise. It shows no structure, and the reduced chi² is near 1:
# the model describes the data. The next picture shows the two parameters that move.

# %%
plot_moving(result)

# %% [markdown]
# ## Against the truth
#
# Because the data are simulated, we can compare. Most values should lie within two standard
# errors.

# %%
for name, true in true_values.items():
    found, error = result.values[name], result.stderr[name] or np.nan
    print(
        f"{name:10} {found:8.3f} ± {error:.3f}   true {true:6.2f}   {(found - true) / error:+.1f} σ"
    )

# %% [markdown]
# # A doublet in a file of your own
#
# Spin-orbit partners come in pairs: their distance and the ratio of their areas are known. Such
# a doublet is fitted with one set of parameters, and the second peak follows the first. We read a
# CSV file, fit the doublet, fit once more with a free distance, and save what we found.

# %%
import tempfile
from pathlib import Path

import numpy as np

from pyspec import File, Project, read
from pyspec.plot import plot_components

# %% [markdown]
# ## The file
#
# Use the path of your file. To have one for this page, we write counts of a doublet as a
# spectrometer would. The two peaks are 3.67 eV apart.

# %%
folder = Path(tempfile.mkdtemp())
path = folder / "gold_4f.csv"

energy = np.linspace(80, 92, 241)
u, v = (energy - 84.05) / 0.6, (energy - 87.72) / 0.6
clean = 120 + 2000 / (1 + u**2) + 1500 / (1 + v**2)
counts = np.random.default_rng(4).poisson(clean)
np.savetxt(path, np.c_[energy, counts], "%.2f,%d", header="binding energy (eV),counts", comments="")

# %% [markdown]
# `read` looks at the content of the file. Printing the result shows what was found; if it guessed
# wrong, the keywords of `read` put it right.

# %%
spectrum = read(path)
print(spectrum)

# %%
file = File.from_dataset(spectrum, Project(show_output=0))
file.plot_data()

# %% [markdown]
# ## The model
#
# Each text in quotes is an expression: the second peak has 3/4 of the height (as for 4f levels),
# lies 3.67 eV higher, and has the same width and shape.

# %%
MODEL = """
tied:
  Offset: {y0: [100, True, 0, 1000]}
  Lorentz: {A: [1500, True, 0, 10000], x0: [84, True, 82, 86], W: [1, True, 0.1, 5]}
  Lorentz: {A: ["3/4 * Lorentz_01_A"], x0: ["Lorentz_01_x0 + 3.67"], W: ["Lorentz_01_W"]}
"""

# %%
file.set_noise("poisson")
file.load_model(MODEL, "tied")
tied = file.fit_spectrum("tied")
tied

# %%
file.plot_fit()

# %% [markdown]
# The numbers are counts, so `set_noise("poisson")` weights them as such and gives standard errors
# that need no further scaling. The reduced chi² is near 1.
#
# ## A distance that is fitted
#
# To test the 3.67 eV, make the distance a quantity of its own. It gets a value and a standard
# error like every parameter.

# %%
FREE = MODEL.replace("tied:", "free:").replace("+ 3.67", "+ splitting")
FREE += "parameters:\n  splitting: [3.6, True, 3, 4]\n"
file.load_model(FREE, "free")
free = file.fit_spectrum("free")
print(f"splitting: {free.values['splitting']:.3f} ± {free.stderr['splitting']:.3f} eV")

# %%
plot_components(free)

# %% [markdown]
# Does the free distance describe the data better? The difference of AIC is small when it does not.

# %%
file.compare_models("tied", "free", fit_type="spectrum")

# %% [markdown]
# ## Save
#
# The parameters go into a CSV file for a spreadsheet. `file.save_fit("fits.h5")` keeps
# everything: data, model and result.

# %%
file.export_fit("tied", filepath=folder / "parameters.csv")
print((folder / "parameters.csv").read_text())

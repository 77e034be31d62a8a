"""What to write instead of names and arguments that are not there, but that people try.

Only what the nearest name does not answer already stands here.
"""

from __future__ import annotations

_WINDOW = "give a pair for each axis: set_fit_limits([82, 90], time_limits=[0, 5])"
_AXES = "axes belong to the model: model.set_axes(energy=energy, time=time)"
_RESULTS = "the last fit is file.get_result(), its parameters file.get_parameters()"
_NOISE = "what is known of the noise is weight=1 / sigma, or loss='poisson' for counts"
_MODEL_FIT = "fit it with fit_model(model, Measurement(data=data)), or File.fit_2d('name')"
_FILE_FIT = (
    "call fit_2d, fit_baseline, fit_spectrum, fit_slice_by_slice or fit_trace, with the name of "
    "a loaded model"
)
_GOODNESS = "it is in result.statistics: chi2, chi2_red, r2, aic, bic; and in result.redchi"
_ERRORS = "standard errors are result.stderr, correlations result.correlations"
_COVARIANCE = "it is result.lmfit.covar; correlations are result.correlations"
_FREEDOM = "degrees of freedom are result.n_data - result.n_free: n_free counts the free parameters"
_TEXTS = "write an archive with save_fit('fits.h5', [result]); result.to_dict() fits into JSON"
_MOVES = (
    "give model, parameter, file and law: add_time_dependence("
    "'peak', 'GLP_01_x0', 'm.yaml', 'decay')"
)
_PROFILE = (
    "give model, parameter, file and function: add_par_profile("
    "'peak', 'GLP_01_A', 'm.yaml', 'depth')"
)
_LOAD = (
    "give the file and the model in it: load_model('models.yaml', 'peak'); a Model made in "
    "Python joins by add_model(model)"
)
_TABLES = "file.export_fit() writes tables and pictures, filepath='fit.csv' the parameters alone"
_SAVE = "save_fit(path, fits): save_fit('fits.h5', [result])"
_SHIFT = "axes are calibrated as data are read: File.from_dataset(scan.shift(energy=-0.32))"
_MASK = (
    "points are left out by File(..., mask=data > limit), ranges of energies by "
    "set_fit_limits([82, 90], exclude=[(83, 84)]); file.keep is False where they are"
)
_SPECTRA = (
    "free spectra are result.linear, one of them result.linear['expFun_01_A'], those of states and "
    "decays result.linear.sas(), .das() and .eas()"
)
_POPULATIONS = "they are result.linear.basis, and pyspec.plot.plot_populations(result) draws them"
_RATES = "rates of decays are das.rates, time constants 1 / das.rates; errors are those of the fit"
_GLOBAL = "call fit_2d, with free spectra in the model: docs/howto/free_spectra.md"
_DRAWN = {
    name: f"write pyspec.plot.{name}(result), with what fit_2d returned"
    for name in ("plot_amplitudes", "plot_populations", "plot_species", "plot_spectra",
                 "plot_traces")
}  # fmt: skip
_PICTURE = "what the picture is written to is save_path='fit.png'"

#: Call → argument → what to write. "*" answers too many values by position, "" missing ones.
CALLS: dict[str, dict[str, str]] = {
    "File": {
        "x": "the energy axis is energy=, the time axis time=",
        "y": "the values are data=, of shape (time, energy)",
        "sigma": "declare it afterwards: file.set_noise('gaussian', sigma=...)",
        "noise": "declare it afterwards: file.set_noise('gaussian', sigma=...)",
        "keep": "give mask=~keep, True where points are left out",
    },
    "Model": {
        "": "give a name and components of pyspec.components: Model('au', [Offset(10)]); a model "
        "of a file is load_model('models.yaml', 'au')",
    },
    "Measurement": {
        "sigma": "give weight=1 / sigma",
        "yerr": "give weight=1 / sigma",
        "noise": _NOISE,
        "noise_type": _NOISE,
        "energy": _AXES,
        "time": _AXES,
        "x": _AXES,
        "limits": "give the window as indices, rows=(begin, end) and columns=(begin, end)",
    },
    "Project": {
        "files": "files join their project: File(project, data=...)",
        "folder": "did you mean 'path'?",
    },
    "Simulator": {
        "noise": "give noise_level=0.02, and noise_type='gaussian' or 'poisson'",
        "sigma": "give noise_level=0.02, in units of the largest value",
    },
    "File.set_fit_limits": {
        "*": _WINDOW,
        "time": "did you mean 'time_limits'?",
        "energy_min": _WINDOW,
        "energy_max": _WINDOW,
    },
    "File.define_baseline": {
        "": "give the first and the last time: define_baseline(-5, -1), or None for the end of "
        "the axis",
    },
    "File.set_noise": {
        "*": "name the size: set_noise('gaussian', sigma=0.3), set_noise('poisson', scale=1)",
    },
    "File.fit_spectrum": {
        "*": "say which spectrum: fit_spectrum('peak', time_point=3), or time_range=(1, 5)",
        "time": "say which spectrum: time_point=3, or time_range=(1, 5)",
    },
    "File.fit_2d": {"": "give the name of a loaded model: fit_2d('peak')"},
    "File.fit_baseline": {"": "give the name of a loaded model: fit_baseline('peak')"},
    "File.fit_slice_by_slice": {"": "give the name of a loaded model: fit_slice_by_slice('peak')"},
    "File.load_model": {"": _LOAD},
    "File.plot_data": {"*": "it draws the data of its file: file.plot_data(show=True)"},
    "File.get_result": {"*": "choose by name: get_result(model='peak', fit_type='2d')"},
    "File.get_parameters": {"*": "choose by name: get_parameters(model='peak', fit_type='2d')"},
    "File.plot_fit": {"*": "choose by name: plot_fit(model='peak', fit_type='2d')"},
    "File.add_time_dependence": {"": _MOVES},
    "File.add_par_profile": {"": _PROFILE},
    "Dataset.shift": {"*": "name the axis: shift(energy=-0.32)"},
    "Project.fit_2d": {"*": "name the model: project.fit_2d(model_name='peak')"},
    "Model.set": {
        "*": "name what changes: model.set('GLP_01_x0', 84, min=80, max=90)",
        "fixed": "give vary=False",
    },
    "Model.set_values": {
        "*": "give a dict: set_values({'GLP_01_x0': 84})",
    },
    "Model.set_axes": {"x": "give energy=, time= or aux="},
    "Model.predict": {"x": "give energy=, time= or both"},
    "Model.guess": {"": "give the data: model.guess(data), (n_energy,) or (n_time, n_energy)"},
    "Model.add_dynamics": {
        "*": "load the law first: add_dynamics('GLP_01_A', load_dynamics('m.yaml', 'decay', "
        "'GLP_01_A'))",
    },
    "FitResult.predict": {"x": "give energy=, time= or both"},
    "fit_model": {
        "": "give a Model with its axes and a Measurement: fit_model(model, measurement)",
    },
    "load_model": {
        "model": "did you mean 'name'?",
        "model_name": "did you mean 'name'?",
    },
    "load_fit": {"*": "load_fit(path) gives the last fit, load_fits(path) all of them"},
    "Dataset.mean": {"axis": "give the names of the axes: dataset.mean('x', 'y')"},
    "read": {"": "give the path of a file: read('scan.csv')"},
    "plot_data": {
        "": "give data and axes: plot_data(data, energy, time); of a File file.plot_data(), of a "
        "Dataset plot_data(dataset.data, dataset.energy, dataset.time, source=dataset)",
    },
    "plot_fit": {
        "*": _PICTURE,
        "": "give a fit: what fit_... returned, file.get_result(), or one of load_fit(path)",
        "path": _PICTURE,
        "filename": _PICTURE,
    },
    "report": {
        "": "give a fit and a path: report(result, 'report.html')",
    },
    "save_fit": {"": _SAVE},
    "register_function": {
        "": "give a name, the function and its parameters: "
        "register_function('Peak', peak, 'A, x0, w>0')",
    },
}  # fmt: skip

#: Class → name of an attribute → what to write.
NAMES: dict[str, dict[str, str]] = {
    "File": {
        "fit": _FILE_FIT,
        "plot": "call plot_data() or plot_fit()",
        "model": "loaded models are in file.models, file.select_model('peak') gives one",
        "result": _RESULTS,
        "params": _RESULTS,
        "parameters": _RESULTS,
        "load_models": "call load_model('models.yaml', 'peak') for each",
        "define_baselines": "call define_baseline(-5, -1)",
        "add_dynamics": "call add_time_dependence('peak', 'GLP_01_x0', 'm.yaml', 'decay')",
        "report": "write it with pyspec.report(file.get_result(), 'report.html')",
        "save": "call save_fit('fits.h5')",
        "predict": "ask a fit: file.get_result().predict(energy=...)",
        "mask": _MASK,
        "set_mask": _MASK,
        "shift": _SHIFT,
        "shift_energy": _SHIFT,
        "set_energy": _SHIFT,
        "calibrate_energy": _SHIFT,
        "shape": "its arrays are file.data, file.energy and file.time",
        **dict.fromkeys(("plot_svd", "svd"), "write pyspec.plot.plot_svd(file)"),
        **_DRAWN,
        **dict.fromkeys(("fit_global", "global_fit", "fit_target"), _GLOBAL),
        "fit_slices": "did you mean 'fit_slice_by_slice'?",
    },
    "Project": {
        "fit": "call project.fit_2d(model_name='peak') for all files together, or fit a file: "
        "project[0].fit_2d('peak')",
        "file": "files are project[0], project['name'], or project.files",
        "data": "data belong to a file: project[0].data",
        "load_model": "call project.load_models(model_yaml=..., model_info=...), or load_model of "
        "one file",
        "define_baseline": "call project.define_baselines(time_start=..., time_stop=...)",
        "fit_spectrum": "call file.fit_spectrum('peak') for each file in project.files; fit_joint "
        "fits spectra together",
        "fit_slice_by_slice": "call file.fit_slice_by_slice('peak') for each file in project.files",
        "set_noise": "call file.set_noise('poisson') for each file in project.files",
        "add_file": "files join their project: File(project, data=...)",
    },
    "Model": {
        "fit": _MODEL_FIT,
        "params": "did you mean 'parameters'? Values alone are model.values",
        "eval": "did you mean 'evaluate'? On other axes it is model.predict(energy=...)",
        "plot": "draw its spectrum: plot_data(model.evaluate(), model.energy, model.time)",
        "make_params": "values are set by model.set('GLP_01_x0', 84, min=80, max=90)",
        "set_value": "did you mean 'set'? As in model.set('GLP_01_x0', 84, min=80, max=90)",
        "set_params": "did you mean 'set'? As in model.set('GLP_01_x0', 84, min=80, max=90)",
        "save": "did you mean 'to_yaml'? As in model.to_yaml('models.yaml')",
        "set_limits": "bounds are set by model.set('GLP_01_x0', min=80, max=90), the window of a "
        "fit by file.set_fit_limits([82, 90])",
        "add_time_dependence": "did you mean 'add_dynamics'? Or File.add_time_dependence",
    },
    "FitResult": {
        "chi2": _GOODNESS,
        "aic": _GOODNESS,
        "bic": _GOODNESS,
        "rsquared": _GOODNESS,
        "r2": _GOODNESS,
        "redchisq": "did you mean 'redchi'?",
        "reduced_chi2": "did you mean 'redchi'?",
        "parameters": "the table is result.table, values result.values, errors result.stderr",
        **dict.fromkeys(("errors", "errorbars", "uncertainties", "stderrs", "uvars"), _ERRORS),
        **dict.fromkeys(("covar", "covariance", "cov", "pcov"), _COVARIANCE),
        **dict.fromkeys(("nfree", "dof", "df", "ndf"), _FREEDOM),
        **dict.fromkeys(("fun", "cost"), "χ² is result.chisqr"),
        **dict.fromkeys(("dumps", "dump", "to_json"), _TEXTS),
        "nvarys": "did you mean 'n_free'?",
        "degenerate": "result.without_effect names the parameters that the data do not determine",
        "expressions": "they are a column of the table: result.table['expr']",
        "has_start": "where a fit began is result.start",
        "popt": "values are result.values, those of the free parameters alone result.theta",
        "ier": "how it ended is result.message and result.success",
        "ci_report": "intervals are result.conf_interval()",
        "eval_uncertainty": "the standard error of the curve is result.predict().stderr",
        "plot_residuals": "write pyspec.plot.plot_residuals([result])",
        "summary": "text is str(result), the table result.table, numbers result.to_dict()",
        "to_dataframe": "the table is result.table.to_dataframe()",
        "to_dataset": "did you mean 'to_xarray'?",
        "save": "write an archive with save_fit('fits.h5', [result])",
        "to_result": "what load_fit returns is the result itself",
        "to_csv": _TABLES,
        "export": _TABLES,
        "report": "write a page with pyspec.report(result, 'report.html'); text is str(result)",
        "area": "areas are quantities of the model, with errors: see docs/howto/areas.md",
        "areas": "areas are quantities of the model, with errors: see docs/howto/areas.md",
        **dict.fromkeys(("sas", "das", "eas", "spectra", "amplitudes", "species"), _SPECTRA),
        **dict.fromkeys(("populations", "concentrations", "basis"), _POPULATIONS),
        **dict.fromkeys(("lifetimes", "taus", "rates"), "values and errors are result.table"),
        **_DRAWN,
        **dict.fromkeys(("plot_svd", "svd"), "write pyspec.plot.plot_svd(result)"),
        "x": "the axes are result.energy and result.time",
        "y": "what was fitted is result.data",
    },
    "SliceResults": {
        "params": "values over time are slices.values, one slice is slices[0].result",
        "parameters": "values over time are slices.values, one slice is slices[0].result",
        "result": "one slice is slices[0].result",
        "plot": "draw them with file.plot_param_evolution() or pyspec.plot.plot_evolution",
    },
    "Dataset": {
        "fit": "make a file of it: File.from_dataset(dataset), and fit that",
        "plot": "draw it with plot_overview(dataset)",
        "to_xarray": "write pyspec.io.to_xarray(dataset)",
        "calibrate": "did you mean 'shift'? As in dataset.shift(energy=-0.32)",
        "values": "the values are dataset.data",
        "x": "the axes are dataset.energy and dataset.time",
        "y": "the values are dataset.data",
    },
    "Measurement": {
        "sigma_data": "the standard deviation of each point is measurement.sigma(model)",
        "energy": _AXES,
        "time": _AXES,
    },
    "Amplitudes": {
        **dict.fromkeys(("populations", "concentrations"), "they are result.linear.basis"),
        **dict.fromkeys(("rates", "lifetimes", "taus"), "rates are result.linear.das().rates"),
        **dict.fromkeys(("energy", "time"), "its axis is result.linear.along, the other one .x"),
        "plot": "write pyspec.plot.plot_amplitudes(result), or plot_species(result)",
        "to_csv": "file.export_fit() writes tables, and .to_xarray() has all of it",
        "errors": "did you mean 'stderr'?",
    },
    "Associated": {
        **dict.fromkeys(("lifetimes", "taus", "tau"), _RATES),
        **dict.fromkeys(("spectra", "data"), "did you mean 'values'?"),
        "energy": "did you mean 'along'?",
        "plot": "write pyspec.plot.plot_species(result)",
        "to_csv": "file.export_fit() writes tables, and .to_xarray() has all of it",
        "errors": "did you mean 'stderr'?",
    },
}  # fmt: skip

#: Class → what to write in place of ``object[key]``.
ITEMS: dict[str, str] = {
    "FitResult": "write result.values[{0!r}], .stderr[{0!r}] or .table[{0!r}]",
    "Model": "write model.values[{0!r}] or model.parameters[{0!r}]",
    "File": "write file.get_parameters()[{0!r}], or file.models[{0!r}] for a model",
    "Dataset": "write dataset.data[{0!r}], or dataset.axes[{0!r}] for an axis",
    "Measurement": "write measurement.data[{0!r}]",
    "Simulator": "what it simulated is in its attributes; see help(Simulator)",
}

#: Class → what to write instead of setting an item.
ITEMS_SET = {
    "Model": "write model.set({0!r}, {1!r})",
    "FitResult": "set a start value of the next fit: model.set({0!r}, {1!r})",
    "File": "set a value of a model: file.select_model('name').set({0!r}, {1!r})",
}

#: Class → attribute that cannot be set → what to write.
SETS: dict[str, dict[str, str]] = {
    "File": {
        "name": "give it as the file is made: File(project, name='scan 2', ...)",
        "path": "give it as the file is made: File(project, path='scan 2.csv', ...)",
        "keep": _MASK,
        **dict.fromkeys(
            ("noise", "noise_type", "noise_scale", "sigma_data", "sigma_type"),
            "call set_noise('gaussian', sigma=0.3), or set_noise('poisson', scale=1)",
        ),
        **dict.fromkeys(
            ("aux_axis", "aux_weights", "inputs"),
            "give it as the file is made: File(project, data=..., energy=..., ...)",
        ),
        **dict.fromkeys(
            ("labels", "units"), "give it as the file is made: File(..., units={'energy': 'eV'})"
        ),
        "models": "call load_model, add_model or select_model",
    },
    "Model": {
        "values": "call set_values({'GLP_01_x0': 84}), or set('GLP_01_x0', 84, min=80, max=90)",
    },
    "Dataset": {
        axis: f"scan = scan.shift({axis}=-0.3) calibrates; other values: "
        f"dataclasses.replace(scan, axes={{**scan.axes, '{axis}': {axis}}})"
        for axis in ("energy", "time")
    },
}

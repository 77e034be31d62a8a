"""What ``pyspec COMMAND --help`` prints below the options: explanations and examples."""

TOP = """\
start here:
  pyspec show my_data.csv        print and draw what pyspec sees in a data file
  pyspec new my_fit my_data.csv  write a job and a model with start values read off it
  pyspec fit my_fit/job.yaml     fit it; look at my_fit/results/report.html
  pyspec new example             the same with simulated data and all fields explained

exit codes: 0 success, 1 an error or a damaged archive, 2 wrong arguments, 3 the fit did not
converge, 130 Ctrl-C, 143 SIGTERM
'pyspec COMMAND --help' shows the options of a command, with examples
"""

FIT = """\
A job file says what to read, which model to fit, and where to write. 'pyspec new' writes one
with the usual fields explained; docs/job_file.md has all. The shortest, for one spectrum:

  data: {path: spectrum.csv}
  models: models.yaml
  model: doublet

Written to the output folder: report.html (everything on one page), parameters.csv and .json,
fit.png, and fits.h5, an archive from which the fit can be loaded and repeated.

examples:
  pyspec fit job.yaml
  pyspec fit all                                a folder of jobs: one page, one table
  pyspec fit job.yaml --check                   read job, data and model; fit nothing
  pyspec fit job.yaml --type slices             spectrum by spectrum
  pyspec fit job.yaml --method nelder -o try_2
"""

NEW = """\
With a file of data: says what it sees in it, and writes job.yaml and models.yaml for it, with
start values that were read off, so that 'pyspec fit' runs at once:
  a spectrum   up to four peaks on a background, asymmetric where their flanks are
  an edge      a Fermi edge with temperature and resolution, or a step
  a survey     the strongest of the windows that hold lines; --survey: a job for each
  a series     free spectra that decay, with instrument, artifact and dispersion; or lines that
               move, with laws for what moves; or lines whose heights are free at each time
  a trace      laws of time: an onset with its instrument, decays, an oscillation
What was unsure is named with the option that decides. Several files, or a folder, get a job each.
Files are read as 'pyspec show' reads them, with its options.

Without one: a job with all fields explained, and data.csv, which is simulated.

examples:
  pyspec new au_4f scans/gold.csv
  pyspec new au_4f scans/gold.csv --peaks 2 --select energy=80:92
  pyspec new all scans                               a job for each file of a folder
  pyspec new at_520 scan.csv --select energy=520.0   a trace at one energy of a series
  pyspec new decay trace.csv --rename energy=time    where the file does not say that it is time
  pyspec new example
"""

SIMULATE = """\
Evaluates a model at the values of its file and adds noise. A job file gives model, dynamics and
the axes of its data.

noise: gaussian:0.02   standard deviation, in units of the largest value
       poisson:5       counts for each unit of the data
       counts:1e5      counts in each spectrum, or in a trace
       none

Laws of time alone make a trace: give --time and no --energy.

examples:
  pyspec simulate models.yaml --model doublet --energy 80:92:240 -o data.csv
  pyspec simulate models.yaml --model doublet --energy 80:92:240 --time -10:90:200 \\
      --dynamics GLP_01_x0=decay --set GLP_01_A=12 --noise counts:1e5 --seed 7 --picture
  pyspec simulate job.yaml -o data.npz
"""

EXPLAIN = """\
Prints the components and what each Shirley reads, the parameters, the order in which
expressions are resolved, what moves in time, and the formulas of all functions.

examples:
  pyspec explain models.yaml --model doublet
  pyspec explain models.yaml --model doublet --dynamics GLP_01_x0=decay
  pyspec explain models.yaml --dynamics GLP_01_x0=irf,up,down@0.25 --plan
  pyspec explain job.yaml --graph
  pyspec explain job.yaml --jacobian            how each parameter's derivative is computed
  pyspec explain job.yaml --after=share         the graph once equal nodes have become one
  pyspec explain job.yaml --picture graph.svg   the graph drawn, inputs on the left
"""

DIFF = """\
Prints what differs between two models as the compiler understands them: values, bounds, nodes and
edges, by name, on axes of a few points. Two models of the same structure share one compiled plan.

examples:
  pyspec diff old.yaml new.yaml
  pyspec diff models.yaml models.yaml --model one --other two
  pyspec diff job.yaml job_2.yaml --after=share   the graphs after the pass 'share'
"""

SHOW = """\
Prints the contents of a data file and the options for reading it otherwise, and draws it: a line,
a map, or a map of places beside its spectra.

examples:
  pyspec show scan.csv
  pyspec show map.nc --at x=10 --at y=12             one place, by positions from 0
  pyspec show map.nc --select x=0.35 --mean y        by value
  pyspec show map.nc --mean x y                      the mean spectrum
  pyspec show data.csv --energy energy.csv --time time.csv -o look.png
"""

BUILD = """\
Starts a server on this machine alone and opens the browser on a page with the data and the model:
lines are dragged, added and tied, laws of time put on parameters, and fits started from there. The
address has a secret in it; over ssh, forward the port: ssh -L 8000:127.0.0.1:8000 host, with
--port 8000. Save writes models.yaml, job.yaml and fit.py to DATA_build, or the folder of -o;
'pyspec build FOLDER/job.yaml' opens them again. Needs pip install 'pyspec-fit[ui]'.

examples:
  pyspec build scan.h5                           begin without a model
  pyspec build scan.h5 models.yaml --model au
  pyspec build cold.h5 warm.h5 models.yaml       several files, some parameters shared
  pyspec build my_fit/job.yaml                   data, limits and model of a job
  pyspec build scan.h5 --no-browser --port 8000
"""

OPS = """\
examples:
  pyspec ops         all functions that a model may name
  pyspec ops GLP     one of them in full
"""

VERIFY = """\
examples:
  pyspec verify fits.h5
  pyspec verify */results/fits.h5 --json
"""

DEMO = """\
examples:
  pyspec demo            into the folder demo
  pyspec demo -o try --seed 7
"""

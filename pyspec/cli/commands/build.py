"""``pyspec build DATA [MODELS]``: the builder of models in a browser."""

from __future__ import annotations

import gc
import webbrowser
from argparse import Namespace
from dataclasses import replace
from pathlib import Path

from pyspec.build.desk import Desk
from pyspec.build.server import serve
from pyspec.cli.commands.new_from_data import data_fields
from pyspec.cli.commands.show import part_of, reading_options
from pyspec.cli.jobs.fields import FlagError
from pyspec.cli.jobs.job import read_job
from pyspec.cli.jobs.loader import file_of, load_data
from pyspec.cli.json_output import print_now
from pyspec.io import read
from pyspec.workflow import File
from pyspec.workflow.session.session import Session
from pyspec.workflow.session.state import folders_of, state_path


def run(args: Namespace) -> int:
    """Serves the builder until Ctrl-C; returns the exit code."""
    session = session_of(args)
    folder = args.output or Path(f"{Path(args.path).stem}_build")
    desk = Desk(session, folder, state_path(session.ground))
    hosts = [name.lower() for name in args.proxy or ()]
    server = serve(desk, args.port, hosts)
    args.facts.update(address=server.address, port=server.port)
    print_now(f"The builder is at {server.address}\nEnd it with Ctrl-C.")
    if not args.no_browser:
        webbrowser.open(server.address)
    gc.collect()
    gc.freeze()  # later collections pass over what was imported: 30 ms in place of 70
    server.run()
    return 0


def session_of(args: Namespace) -> Session:
    """The session of data files with the models of another file, of jobs, or of the folder of a
    saved session."""
    paths = [Path(args.path), *map(Path, args.more)]
    saved = folders_of(paths[0]) if len(paths) == 1 and paths[0].is_dir() else None
    if saved is not None:
        return _of_jobs([folder / "job.yaml" for folder in saved], args, paths[0])
    if all(map(_is_yaml, paths)):
        return _of_jobs(paths, args, paths[0].parent)
    models = [path for path in paths if _is_yaml(path)]
    if len(models) > 1:
        raise FlagError(f"{models[1]}: the models of all files are in one file; leave one out")
    options = reading_options(args)
    data = [path for path in paths if path not in models]
    datasets = [part_of(read(str(path), **options), args) for path in data]
    names = [dataset.name for dataset in datasets]
    if len(set(names)) < len(names):  # of one name in several folders
        names = [f"{path.parent.name}/{path.stem}" for path in data]
    pairs = zip(datasets, names, strict=True)
    files = [File.from_dataset(dataset, name=name) for dataset, name in pairs]
    origins = [
        data_fields(args, path, options, dataset)
        for path, dataset in zip(data, datasets, strict=True)
    ]
    session = Session(files, models[0] if models else None, args.model)
    folder = models[0].parent if models else Path.cwd()
    for ground, origin in zip(session.grounds, origins, strict=True):
        ground.origin = origin
        ground.allow(folder, session.text)
    return session


def _is_yaml(path: Path) -> bool:
    return path.suffix.lower() in (".yaml", ".yml")


def _of_jobs(paths: list[Path], args: Namespace, folder: Path) -> Session:
    """The data, the limits and the models of jobs; `folder` is where they were saved."""
    files, models, names, homes = [], [], [], []
    for path in paths:
        job = read_job(path)
        dataset = load_data(job)
        if len(paths) > 1:
            dataset = replace(dataset, name=job.name)
        file = file_of(job, dataset)
        model = file.select_model()
        files.append(file)
        models.append(model if job.dynamics or job.profiles else job.models)
        names.append(model.name)
        homes.append(job.models.parent.resolve())
    session = Session(files, models, args.model or names[0])
    for ground in session.grounds:
        ground.allow(homes[0], session.text)
    session.open(folder)
    return session

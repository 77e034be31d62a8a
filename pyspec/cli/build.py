"""``pyspec build DATA [MODELS]``: the builder of models in a browser."""

from __future__ import annotations

import webbrowser
from argparse import Namespace
from pathlib import Path

from pyspec.build.desk import Desk
from pyspec.build.server import serve
from pyspec.cli.facts import said
from pyspec.cli.from_data import data_fields
from pyspec.cli.job import read_job
from pyspec.cli.prepare import file_of, load_data
from pyspec.cli.show import part_of, reading_options
from pyspec.io import read
from pyspec.workflow import File
from pyspec.workflow.session import Session
from pyspec.workflow.session_files import state_path


def run(given: Namespace) -> int:
    """Serves the builder until Ctrl-C; returns the exit code."""
    session = session_of(given)
    folder = given.output or Path(f"{Path(given.path).stem}_build")
    desk = Desk(session, folder, state_path(session.ground))
    server = serve(desk, given.port)
    given.facts.update(address=server.address, port=server.port)
    said(f"The builder is at {server.address}\nEnd it with Ctrl-C.")
    if not given.no_browser:
        webbrowser.open(server.address)
    server.run()
    return 0


def session_of(given: Namespace) -> Session:
    """The session of a file of data, with the models of another file, or of a job."""
    path = Path(given.path)
    if path.suffix.lower() in (".yaml", ".yml") and path.is_file():
        return _of_job(path, given)
    options = reading_options(given)
    dataset = part_of(read(given.path, **options), given)
    session = Session(File.from_dataset(dataset), given.models, given.model)
    session.origin = data_fields(given, path, options, dataset)
    folders = [Path.cwd()] if given.models is None else [Path(given.models).parent]
    session.ground.folders = tuple(one.resolve() for one in folders)
    return session


def _of_job(path: Path, given: Namespace) -> Session:
    """The data, the limits and the model of a job."""
    job = read_job(path)
    file = file_of(job, load_data(job))
    model = file.select_model()
    moved = job.dynamics or job.profiles
    session = Session(file, model if moved else job.models, given.model or model.name)
    session.ground.folders = (job.models.parent.resolve(),)
    session.open(path.parent)
    return session

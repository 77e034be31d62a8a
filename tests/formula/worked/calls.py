"""The example of functions that are called by name, with arguments by place and by name."""

import numpy as np

from pyspec.formula import executor, graph, ir, linearize

k0 = graph.constant(100)
k1 = graph.constant(50)
k2 = graph.constant(117)
k3 = graph.constant(1000)
scaled1 = graph.function_call("scale1", k0, k1)
scaled2 = graph.function_call("scale2", k0=k0, k1=k1)
scaled3 = graph.function_call("scale3", k0, k1, k2=k2, k3=k3, scaled2=scaled2)
state = executor.State(
    functions={
        "scale1": np.add,
        "scale2": lambda k0, k1: np.add(k0, k1),
        "scale3": lambda k0, k1, **more: np.add(k0, np.add(k1, sum(more.values()))),
    }
)
executor.evaluate_dag(state, ir.compile_nodes(*linearize.forest(scaled1, scaled2, scaled3)))
for node in (scaled1, scaled2, scaled3):
    print(f"#{state.get_node_value(node)}")

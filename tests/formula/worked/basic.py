"""The example of a graph with three outputs: its plan, its DAGs, and a trace of an evaluation."""

from pyspec.formula import executor, forest, graph, ir, linearize

a = graph.placeholder("a")
b = graph.placeholder("b")
scale = graph.constant(1024)
c = graph.exp(a) + 55 / a
d = c * b + scale
e = graph.power(a, c) * 144
print("==== plan")
for node in linearize.forest(c):
    print(node)
print("==== nodes")
print(ir.compile_nodes(*linearize.forest(e, d, c)))
print("==== trees")
dag = ir.compile_trees(*forest.partition(e, d, c))
print(dag)
print("==== trace")
executor.evaluate_dag(executor.State({a: 4, b: 2}), dag)

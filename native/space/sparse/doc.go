// Package sparse has explicit models as sparse matrices, and algorithms on their graphs: reachability,
// strongly connected components, end components, and states of probability 0 and 1.
//
//	b := sparse.NewBuilder(sparse.MDP)
//	b.State()
//	b.Choice(1)
//	b.Add(0, 0.5)
//	b.Add(1, 0.5)
//	…
//	m, err := b.Finish()
//	g := sparse.NewGraph(m)
//	sure, err := g.Prob1E(ctx, left, right)  // Pmax = 1
//	scc := m.Components(nil, nil)            // successors first
//	mecs, err := m.EndComponents(ctx, nil, nil)
//
// A DerivedBuilder copies choices of a model to another one, and NewProduct builds products with it.
//
// A Model is plain data without variables and properties. States, choices and transitions are numbers.
// Package native/space/explicit builds models from programs; native/solve computes with the weights.
package sparse

// Package sparse holds explicit models with few transitions per state, and what
// can be said about them by looking at their graph alone.
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
// A Model is plain data: it knows no variables and no properties. States,
// choices and transitions are numbers. The package does not explore (that is
// native/explicit) and does not compute with the weights (that is
// native/explicit/solve); a transition is there when its weight is positive.
package sparse

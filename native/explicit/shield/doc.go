// Package shield says which choices of an MDP keep a probability close to the best
// one, and makes models that have no others.
//
//	x, err := shield.New(ctx, &shield.Question{Space: space, Left: all, Right: goal, Max: true}, &shield.Options{Threshold: d})
//	x.Allowed                      // choices
//	p, err := x.Promise(ctx)       // what any scheduler of these attains, at best and at worst
//	text, err := x.Model(tree)     // the model, with a module that allows no others
//
// A choice is allowed if it loses no more than a threshold against the best choice
// of its state, when play is the best after it. Losses of several steps add up, and a
// scheduler may go round in circles without loss: what a shield promises in the end is
// computed, not concluded. Options.Total asks for a threshold for which that is
// close to the best.
//
// Bounds decide where they can, and fractions otherwise.
//
// Source: Jansen, Könighofer, Junges, Serban and Bloem, Safe reinforcement learning
// using probabilistic shields (CONCUR 2020); Tempest (ATVA 2021) for the absolute and
// the relative comparison, before (the choices that are allowed) and after (which one replaces another).
package shield

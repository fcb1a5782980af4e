// Package shield computes the choices of an MDP that keep a probability close to the best one, and models
// that are restricted to them.
//
//	x, err := shield.New(ctx, &shield.Question{Space: space, Left: all, Right: goal, Max: true}, &shield.Options{Threshold: d})
//	x.Allowed                      // choices
//	p, err := x.Promise(ctx)       // the best and the worst probability of an allowed scheduler
//	text, err := x.Model(tree)     // the model, with a module that allows no others
//
// A choice is allowed if, followed by best choices, it loses at most a threshold against the best choice of
// its state. Losses of several steps add up, and a scheduler may follow a cycle without loss forever. So the
// probability under the shield is computed from the restricted model. Options.Total limits that probability.
//
// Floating-point bounds decide where they can, and exact arithmetic elsewhere.
//
// Source: Jansen, Könighofer, Junges, Serban and Bloem, Safe reinforcement learning
// using probabilistic shields (CONCUR 2020); Tempest (ATVA 2021) for the absolute and
// the relative comparison, before (the choices that are allowed) and after (which one replaces another).
package shield

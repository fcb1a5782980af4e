// Package abstraction hides variables of an MDP, so that bounds of a maximal probability of reaching a target need few states.
//
//   - Abstraction.Program is a program without the hidden variables. Conditions on hidden variables are left out of guards, so every step of the
//     model is a step of this program, and its maximal probability is an upper bound.
//   - A scheduler of this program reads visible variables only. Abstraction.Follow returns a program that makes its choices in the model itself: a
//     choice whose guard does not hold there ends the path. The probability is a lower bound. Hidden variables that the scheduler does not read
//     again are reset, so that this program has few states, too.
//
// If the bounds differ, the hidden variables in the guards that did not hold become visible.
//
//	hidden := abstraction.New(property)   // nil if the property or the model is not supported
//	upper := hidden.Program()
//	chain, err := hidden.Follow(steps)    // of an optimal scheduler of upper
//	_, why := chain.Blocked(state)        // of a deadlock of chain.Program
//	hidden.Show(why)
//
// Sources: R. P. Kurshan, "Computer-aided verification of coordinating processes" (1994), for localization reduction; H. Hermanns, B. Wachter and
// L. Zhang, "Probabilistic CEGAR" (CAV 2008).
package abstraction

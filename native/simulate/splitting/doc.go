// Package splitting estimates the probabilities of rare events by importance splitting, with fixed effort or by RESTART.
//
// An importance function says how near a state is to the target; it is derived from the model (importance.go). A pilot run
// chooses increasing levels of importance. A replication starts the same number of paths at each level, from states in which
// paths of the level before reached it, and multiplies the fractions of the paths that reach the next level. The product is an
// unbiased estimate whatever the importance function is; the function only decides how much the estimate varies. RESTART
// (restart.go) splits each path that attains a level instead. Independent replications give the mean and an interval, which is
// nominal: it is asymptotic in the number of replications.
//
// Source: Garvels, The splitting method in rare event simulation, 2000; Budde, D'Argenio and Hartmanns, Automated compositional
// importance splitting, 2019.
package splitting

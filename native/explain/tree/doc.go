// Package tree represents memoryless schedulers of MDPs as small decision trees over the variables of the
// model.
//
//	found, err := tree.Find(ctx, &tree.Task{Space: space, Choices: choices, Allowed: allowed, Judge: judge, Loss: 1e-3})
//	err = found.Write(w, tree.Text)
//
// Learn grows a tree greedily, by entropy, from states with their allowed decisions. Find grows a tree that
// decides in every state that it reaches itself. It then prunes branches as long as the loss of value is
// allowed; Judge computes the loss from the remaining choices. So the loss of the result is proved. There
// may be smaller trees.
//
// Schedulers that count steps have no such tree.
//
// Source: Ashok, Jackermeier, Křetínský, Weinhuber, Weininger, Yadav, dtControl 2.0:
// Explainable strategy representation via decision tree learning steered by experts
// (TACAS 2021), for trees of states that allow several decisions.
package tree

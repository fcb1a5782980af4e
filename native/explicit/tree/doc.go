// Package tree writes schedulers of MDPs as decision trees over the variables of the
// model: a few questions that a person can read, instead of a line for every state.
//
//	found, err := tree.Find(ctx, &tree.Task{Space: space, Choices: choices, Allowed: allowed, Judge: judge, Loss: 1e-3})
//	err = found.Write(w, tree.Text)
//
// Learn grows a tree greedily, by entropy, for states that each allow some decisions.
// Find looks for a tree that decides in every state that it reaches itself, and cuts off
// branches as long as what it is worth, which Judge computes of the choices that are
// left, is within a loss. So the tree that comes out is no guess: its loss is the judge's
// last word. That there is no smaller tree is not said.
//
// A tree does not remember: schedulers that count steps have none.
//
// Source: Ashok, Jackermeier, Křetínský, Weinhuber, Weininger, Yadav, dtControl 2.0:
// Explainable strategy representation via decision tree learning steered by experts
// (TACAS 2021), for trees of states that allow several decisions.
package tree

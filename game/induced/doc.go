// Package induced says what is proven about a strategy: the Markov chain that it makes of the game, its value, and a model of both.
package induced

// Package draw makes pictures of small games and their optimal play, like those of Lees-Miller's appendix A.
//
// [DOT] writes the Markov decision process of a table, or what optimal play leaves of it, as a graph in Graphviz's language. [SVG] lays out
// any such graph with a Graphviz that is part of the program: graphviz.wasm, which wazero compiles when it is called for and not before.
// See NOTICE for where it comes from. It reads nothing from the system and writes nothing to it.
//
//	dot, err := draw.DOT(table, draw.Options{Optimal: true})
//	svg, err := draw.SVG(ctx, dot)
//
// State spaces of models are written in Graphviz's language by native/space/files; tilecheck export draws them with [SVG], too.
//
// Source: Lees-Miller, The Mathematics of 2048: Optimal Play with Markov Decision Processes, appendix A.
package draw

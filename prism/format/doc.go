// Package format formats model and property files. It prints like package syntax, and keeps the
// line breaks and comments that a tree does not have.
//
// [Source] changes only white space. Every declaration, command and property starts on a new line,
// indented by its block. Blanks between tokens are those of [syntax.Fprint]. Line breaks within a
// statement stay, and so do blank lines, at most one in a row. Comments after statements on
// consecutive lines are aligned. A command on one line that is too long is broken as Fprint breaks
// it.
//
// The output of Fprint stays unchanged. To print a tree without a text, use Fprint.
package format

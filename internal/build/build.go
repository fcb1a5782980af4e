// Package build says which build of tilecheck is running: results name it, and
// what one build has kept is not taken for the work of another.
package build

// Version is the release that this source is, or becomes.
const Version = "0.2.0"

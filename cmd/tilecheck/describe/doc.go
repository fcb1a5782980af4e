// Package describe describes a command line of kong: its help, its manual page, and the
// completion of a line that is being typed. It does not depend on any command.
package describe

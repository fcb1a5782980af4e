// Package describe says what the command line is: its help, its manual page, and
// how what is typed may go on. It knows kong, and no command.
package describe

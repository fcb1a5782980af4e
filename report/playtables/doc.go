// Package playtables shows what is found of the game, played, solved or bounded: as
// tables and charts of package report.
package playtables

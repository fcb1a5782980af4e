// Package playtables makes tables and charts of results about 2048: games played, games solved, and proven bounds.
package playtables

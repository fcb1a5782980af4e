// Package tables shows what package play found: as tables and charts of package report.
package tables

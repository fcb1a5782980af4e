// Package plot draws charts of numbers with their intervals, as SVG and PNG. It
// is the only importer of gonum's plot; what a chart shows is decided by others.
//
//	err := plot.Write(w, "losing.svg", &plot.Chart{Series: series})
package plot

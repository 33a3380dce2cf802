package workorders

import (
	"embed"
	"encoding/json"
	"fmt"
)

//go:embed demo/*.json
var demoFiles embed.FS

// A ledger is a whole book in the form of the demo data; it is what an export
// writes and what a new book is filled with.
type ledger struct {
	Reference      Reference       `json:"reference"`
	Company        Company         `json:"company"`
	Regions        []Named         `json:"regions"`
	Skills         []Named         `json:"skills"`
	Users          []User          `json:"users"`
	Policy         Policy          `json:"policy"`
	Technicians    []Technician    `json:"technicians"`
	Customers      []Customer      `json:"customers"`
	Sites          []Site          `json:"sites"`
	Assets         []Asset         `json:"assets"`
	WorkOrders     []WorkOrder     `json:"work_orders"`
	Visits         []Visit         `json:"visits"`
	Suppliers      []Supplier      `json:"suppliers"`
	StockLocations []StockLocation `json:"stock_locations"`
	Parts          []Part          `json:"parts"`
	PartOrders     []PartOrder     `json:"part_orders"`
}

// demoLedger reads the embedded demo data. Each file fills the keys it has.
func demoLedger() (*ledger, error) {
	files, err := demoFiles.ReadDir("demo")
	if err != nil {
		return nil, fmt.Errorf("demo data: %w", err)
	}
	l := &ledger{}
	for _, f := range files {
		b, err := demoFiles.ReadFile("demo/" + f.Name())
		if err != nil {
			return nil, fmt.Errorf("demo data: %w", err)
		}
		if err := json.Unmarshal(b, l); err != nil {
			return nil, fmt.Errorf("demo data: %s: %w", f.Name(), err)
		}
	}
	return l, nil
}

package workorders

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// companyURI is the resource with what a client has to know about the company.
const companyURI = "deskhand://company"

// companyInfo is the content of the company resource.
type companyInfo struct {
	Name         string               `json:"name"`
	Demo         bool                 `json:"demo"`
	Timezone     string               `json:"timezone"`
	Currency     string               `json:"currency"`
	Now          string               `json:"now"`
	Clock        string               `json:"clock"` // demo, real or fixed
	Users        []userInfo           `json:"users"`
	NamedWindows map[string][2]string `json:"named_windows"`
	BookID       string               `json:"book_id"`
}

type userInfo struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	Role  string `json:"role"`
	Limit *Money `json:"limit,omitempty"` // none is no limit
}

func userInfoOf(u *User) userInfo {
	info := userInfo{ID: u.ID, Name: u.Name, Role: u.Role}
	if u.ApprovalLimit != nil {
		info.Limit = &Money{Minor: *u.ApprovalLimit, Currency: u.Currency}
	}
	return info
}

func (b *Book) company() companyInfo {
	s := b.state.Load()
	info := companyInfo{
		Name: s.company.Name, Demo: s.clock.Kind == clockDemo,
		Timezone: s.company.Timezone, Currency: s.company.Currency,
		Now: b.now(s).Format(stampLayout), Clock: b.clockKind(s),
		Users: []userInfo{}, NamedWindows: s.company.NamedWindows, BookID: s.id,
	}
	for i := range s.users {
		info.Users = append(info.Users, userInfoOf(&s.users[i]))
	}
	return info
}

func companyResource() *mcp.Resource {
	return &mcp.Resource{
		URI: companyURI, Name: "company", Title: "Company", MIMEType: "application/json",
		Description: "The company: time zone, currency, current time, desk users with their approval limits, named windows.",
	}
}

func (s *Server) addCompany(m *mcp.Server) {
	m.AddResource(companyResource(), func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		text, err := plainJSON(s.book.company())
		if err != nil {
			return nil, err
		}
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{
			{URI: companyURI, MIMEType: "application/json", Text: string(text)},
		}}, nil
	})
}

package workorders

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
)

// A Holder is the server of another process that holds the book. A process
// that found the book held asks it.
type Holder struct {
	// Endpoint is the holder's MCP endpoint, as in [Addr].
	Endpoint string
	Token    string

	// PeopleToken is for what only people of the same home may do: [Holder.Do]
	// and [Holder.Backup].
	PeopleToken string
}

// Export writes to w what [Book.Export] writes.
func (h Holder) Export(ctx context.Context, w io.Writer) error { return h.fetch(ctx, "/export", w) }

// Backup writes to w what [Book.Backup] writes.
func (h Holder) Backup(ctx context.Context, w io.Writer) error { return h.fetch(ctx, "/backup", w) }

func (h Holder) fetch(ctx context.Context, path string, w io.Writer) error {
	res, err := h.send(ctx, http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("%s from %s: %s", path, res.Request.URL.Host, res.Status)
	}
	_, err = io.Copy(w, res.Body)
	return err
}

// send makes one request with the token.
func (h Holder) send(ctx context.Context, method, path string, body []byte) (*http.Response, error) {
	u, err := url.Parse(h.Endpoint)
	if err != nil {
		return nil, err
	}
	u.Path = path
	req, err := http.NewRequestWithContext(ctx, method, u.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	token := h.Token
	if path != "/export" {
		token = h.PeopleToken
	}
	req.Header.Set("Authorization", "Bearer "+token)
	return http.DefaultClient.Do(req)
}

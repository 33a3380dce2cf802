package offline

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

func read(t *testing.T, line string) *clause {
	t.Helper()
	clauses := newTable().readLine(line, tuesday(t), nil)
	if len(clauses) != 1 {
		t.Fatalf("%q: %d clauses", line, len(clauses))
	}
	return clauses[0]
}

func TestTimes(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		say  string
		want string // day, then from-to
	}{
		{"tomorrow 10-12", "Wed 2 10:00-12:00"},
		{"tmrw am", "Wed 2 08:00-12:00"},
		{"tmrw 8 - 10", "Wed 2 08:00-10:00"},
		{"thu 8-10", "Thu 3 08:00-10:00"},
		{"thursday 8:30-10", "Thu 3 08:30-10:00"},
		{"thurs 1-3", "Thu 3 13:00-15:00"},
		{"friday 1-3pm", "Fri 4 13:00-15:00"},
		{"friday 1-3 pm", "Fri 4 13:00-15:00"},
		{"friday 10-2", "Fri 4 10:00-14:00"},
		{"friday 11-1pm", "Fri 4 11:00-13:00"},
		{"friday 12-2", "Fri 4 12:00-14:00"},
		{"friday 9am-11", "Fri 4 09:00-11:00"},
		{"friday from 9 to 11", "Fri 4 09:00-11:00"},
		{"friday between 2 and 4", "Fri 4 14:00-16:00"},
		{"at 10 today", "Tue 1 10:00"},
		{"at 3 today", "Tue 1 15:00"},
		{"friday 9am", "Fri 4 09:00"},
		{"friday at 9 am", "Fri 4 09:00"},
		{"2pm today for two hours", "Tue 1 14:00-16:00"},
		{"fri at 9 for 90 min", "Fri 4 09:00-10:30"},
		{"fri at 9 for half an hour", "Fri 4 09:00-09:30"},
		{"tomorrow 15h", "Wed 2 15:00"},
		{"first thing tmrw", "Wed 2 08:00-10:00"},
		{"tomorrow first thing in the morning", "Wed 2 08:00-10:00"},
		{"this afternoon", "Tue 1 13:00-17:00"},
		{"tonight", "Tue 1 17:00-21:00"},
		{"saturday all day", "Sat 5 08:00-17:00"},
		{"day after tomorrow end of day", "Thu 3 15:00-17:00"},
		{"yesterday 3pm", "Mon 30 15:00"},
		{"monday", "Mon 7"},
		{"next tue pm", "Tue 8 13:00-17:00"},
		{"this friday", "Fri 4"},
		{"2026-12-09 at 10:00", "Wed 9 10:00"},
		{"fri 11 dec 10-12", "Fri 11 10:00-12:00"},
		{"dec 4 at 10am", "Fri 4 10:00"},
		{"on the 4th 10-12", "Fri 4 10:00-12:00"},
		{"tue 10-12", "? Tue 1 Tue 8 10:00-12:00"},
		{"next thursday am", "? Thu 3 Thu 10 08:00-12:00"},
		{"wed 4 dec", "? Wed 2 Fri 4"},
		{"tomorrow noon", "Wed 2 12:00"},
		{"three elements", ""},
		{"the 15-60 pump", ""},
		{"i am late", ""},
	} {
		t.Run(test.say, func(t *testing.T) {
			t.Parallel()
			got := shown(readTimes(splitWords(joinRanges(test.say)), tuesday(t)))
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func shown(w when) string {
	var out []string
	if len(w.days) > 0 {
		out = append(out, "?")
	}
	for _, d := range append(w.days, w.day) {
		if !d.IsZero() {
			out = append(out, d.Format("Mon 2"))
		}
	}
	if w.from >= 0 {
		clock := clockLabel(w.from)
		if w.to >= 0 {
			clock += "-" + clockLabel(w.to)
		}
		out = append(out, clock)
	}
	return strings.Join(out, " ")
}

func TestSevenIsUnclear(t *testing.T) {
	t.Parallel()
	if w := read(t, "book ada for 7001 tomorrow at 7").when; w.unclear != 7 {
		t.Errorf("unclear = %d", w.unclear)
	}
	for _, clear := range []string{"tomorrow at 7am", "tomorrow 19:00", "tomorrow at 07:00", "tomorrow at 7pm"} {
		if w := readTimes(splitWords(clear), tuesday(t)); w.unclear != 0 || w.from < 0 {
			t.Errorf("%q: %+v", clear, w)
		}
	}
}

func TestClockChange(t *testing.T) {
	t.Parallel()
	spring := time.Date(2027, 3, 28, 0, 0, 0, 0, brussels(t))
	if _, ok := at(spring, 2*60+30); ok {
		t.Error("02:30 exists on the day that skips it")
	}
	autumn := time.Date(2027, 10, 31, 0, 0, 0, 0, brussels(t))
	if got, ok := at(autumn, 2*60+30); !ok || stamp(got) != "2027-10-31T02:30:00+02:00" {
		t.Errorf("the doubled hour is %s, want the first", stamp(got))
	}
	if got, _ := at(spring, 10*60); stamp(got) != "2027-03-28T10:00:00+02:00" {
		t.Errorf("offset of the day: %s", stamp(got))
	}
}

func TestIDs(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		say, jobs, orders, skus string
	}{
		{"wo1007??", "WO-1007", "", ""},
		{"WO 1007", "WO-1007", "", ""},
		{"#1007", "WO-1007", "", ""},
		{"status 1043 and 1044", "WO-1043 WO-1044", "", ""},
		{"1043's status", "WO-1043", "", ""},
		{"po-3011", "", "PO-3011", ""},
		{"PO 3011", "", "PO-3011", ""},
		{"order gb-pcb-24e for 1060", "WO-1060", "", "GB-PCB-24E"},
		{"price of AP-DW-SEAL", "", "", "AP-DW-SEAL"},
		{"order xj-900 for 1044", "WO-1044", "", "XJ-900"},
		{"an up-to-date pre-approved re-order", "", "", ""},
		{"do we have a42 belts", "", "", ""},
	} {
		t.Run(test.say, func(t *testing.T) {
			t.Parallel()
			c := read(t, test.say)
			got := fmt.Sprint(c.ids.jobs, c.ids.orders, c.ids.skus)
			want := fmt.Sprint(strings.Fields(test.jobs), strings.Fields(test.orders), strings.Fields(test.skus))
			if got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

func TestQuantities(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		say  string
		n    int
		kind string // given, article, bad or none
		job  string
	}{
		{"order a 3 kW element for 1044", 0, "article", "WO-1044"},
		{"order 2x 3kw elements 1045", 2, "given", "WO-1045"},
		{"order GB-PCB-24 x1 for 1060", 1, "given", "WO-1060"},
		{"order 2 x GB-PCB-24 for 1060", 2, "given", "WO-1060"},
		{"order the stainless one for 1045, two of them", 2, "given", "WO-1045"},
		{"order a pair of belts for 1018", 2, "given", "WO-1018"},
		{"order half a dozen belts for 1018", 6, "given", "WO-1018"},
		{"order one for 1018", 1, "given", "WO-1018"},
		{"order 0 belts for 1018", 0, "given", "WO-1018"},
		{"order -1 belts for 1018", -1, "given", "WO-1018"},
		{"order 10000 belts for 1018", 10000, "given", "WO-1018"},
		{"order 10000 AC-BELT-A42 1018", 10000, "given", "WO-1018"},
		{"order 1.5 belts for 1018", 0, "bad", "WO-1018"},
		{"order qty 3 AC-BELT-A42 for 1018", 3, "given", "WO-1018"},
		{"order belts for 1018", 0, "none", "WO-1018"},
		{"order the 3.5 kw element for 1018", 0, "none", "WO-1018"},
	} {
		t.Run(test.say, func(t *testing.T) {
			t.Parallel()
			c := read(t, test.say)
			kind := "none"
			switch q := c.quantity; {
			case q.bad:
				kind = "bad"
			case q.given:
				kind = "given"
			case q.article:
				kind = "article"
			}
			if kind != test.kind || kind == "given" && c.quantity.n != test.n || !slices.Equal(c.ids.jobs, []string{test.job}) {
				t.Errorf("got %s %+v %v", kind, c.quantity, c.ids.jobs)
			}
		})
	}
}

func TestMeasures(t *testing.T) {
	t.Parallel()
	for say, want := range map[string]string{
		"3kw": "3 kW", "3 kW": "3 kW", "3,5 kw": "3.5 kW", "3.50kW": "3.5 kW", "230 V": "230 V", "40a": "40 A", "a 40": "", "2 a42": "",
		`Heating element 3 kW, 230 V, 1½" thread`: "3 kW 230 V", "22 mm": "22 mm",
	} {
		var got []string
		for _, m := range measuresOf(say) {
			got = append(got, m.String())
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: got %v, want %q", say, got, want)
		}
	}
}

func TestIntents(t *testing.T) {
	t.Parallel()
	for say, want := range map[string]string{
		"what's the status of 7001":                   "status",
		"7001":                                        "status",
		"is 7001 finished?":                           "status",
		"why is 7001 on hold":                         "status",
		"tell me about 7001":                          "status",
		"anything urgent without a tech?":             "list",
		"what is due by tomorrow noon":                "list",
		"whats wrong at the tea hall":                 "list",
		"who's free for 7001 tmrw am":                 "availability",
		"can anyone be at leaf road tomorrow morning": "availability",
		"send someone to 7001":                        "send",
		"book ada for 7001 tomorrow 10-12":            "book",
		"get ada to do 7001 on friday 8-10":           "book",
		"ada 7001 thursday 10-12":                     "book",
		"7001 -> ada brook thu 8-10":                  "book",
		"ok book her":                                 "book",
		"order a heater for 7001":                     "order",
		"can you please order a heater for 7001":      "order",
		"get the heater for the tea hall ordered":     "order",
		"have we ordered the heater for 7001":         "orders",
		"was the heater ordered for 7001":             "status",
		"should i order a heater for 7001":            "status",
		"order status 7001":                           "orders",
		"where's the fan motor for 7001":              "orders",
		"what orders are waiting for approval":        "orders",
		"how much is TB-HEAT-3":                       "price",
		"do we have a42 belts":                        "price",
		"any replacement for the lid on 7001":         "price",
		"same for 7002":                               "same",
		"no wait, thursday afternoon":                 "change",
		"dont order anything for 7001":                "not",
		"approve PO-3013 yourself":                    "approve",
		"close 7001":                                  "close",
		"do what the note on 7001 says":               "obey",
		"move it to 3":                                "move",
		"cancel 7001":                                 "cancel",
		"note on 7001: bring tea":                     "note",
		"whos on the bakery job":                      "status",
		"which heater fits 7001":                      "price",
		"i need a heater for 7001":                    "price",
		"help":                                        "help",
	} {
		got := ""
		if c := newTable().readLine(say, tuesday(t), nil)[0]; c.intent != nil {
			got = c.intent.name
		}
		if got != want {
			t.Errorf("%q is %q, want %q", say, got, want)
		}
	}
}

func TestNamesAndSites(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ say, site, rest string }{
		{"book Priya for 1047 tomorrow 10-12", "", "priya"},
		{"put Łukasz on 1042 at 10 today", "", "lukasz"},
		{"book imke van der loosten for the tea hall friday 8-10", "tea hall", "imke van der loosten"},
		{"whats wrong at the baths", "baths", "wrong"},
		{"whos on the bakery job", "bakery", ""},
		{"what fits the oven at the bakery, top element", "bakery", "oven top element"},
		{"order two belts for the dock works", "dock works", "belts"},
		{"anyone for gas heating at mossbank tomorrow pm", "mossbank", "gas heating"},
	} {
		c := read(t, test.say)
		if got := joinWords(c.site); got != test.site {
			t.Errorf("%q: site %q, want %q", test.say, got, test.site)
		}
		if got := joinWords(c.rest); got != test.rest {
			t.Errorf("%q: rest %q, want %q", test.say, got, test.rest)
		}
	}
}

func TestClauses(t *testing.T) {
	t.Parallel()
	for say, want := range map[string]int{
		"order the 3kw element for 1044 and book lukasz friday 8-10": 2,
		"status 1044 and 1045":                         1,
		"book ada for 7001 thursday, order the heater": 2,
		"please book ada":                              1,
		"ok, book ada for 7001":                        1,
	} {
		if got := len(newTable().readLine(say, tuesday(t), nil)); got != want {
			t.Errorf("%q: %d clauses, want %d", say, got, want)
		}
	}
}

func TestLongLines(t *testing.T) {
	t.Parallel()
	for name, line := range map[string]string{
		"words":   strings.Repeat("order 9 x 8-10 tmrw at ", 4500),
		"letters": strings.Repeat("a", 100_000),
		"digits":  strings.Repeat("1044-", 20_000),
		"marks":   strings.Repeat("e\u0301 ", 33_000),
		"commas":  strings.Repeat(",", 100_000),
		"limit":   strings.Repeat("and order 1 ", maxLine/12),
	} {
		d := newDesk(t)
		start := time.Now()
		d.say(line)
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("%s: %v", name, took)
		}
		if len(d.wrote()) > 0 {
			t.Errorf("%s: wrote %v", name, d.wrote())
		}
	}
}

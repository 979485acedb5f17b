// The workloads on the Go SDK: `server TRANSPORT PORT TOOLS PAGE`, see material.py. Stateless, JSON answers; where a call
// streams, an event stream.
package main

import (
	"context"
	"fmt"
	"log"
	"math/rand"
	"net/http"
	"os"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const line = "The quick brown fox \"jumps\" over the lazy dog, 1,234 times.\n"

type Text struct {
	Text string `json:"text"`
}

type Customer struct {
	Name  string `json:"name"`
	Email string `json:"email"`
}

type Line struct {
	SKU      string  `json:"sku"`
	Quantity int     `json:"quantity"`
	Price    float64 `json:"price"`
}

type Order struct {
	Customer Customer `json:"customer"`
	Lines    []Line   `json:"lines"`
	Note     *string  `json:"note,omitempty"`
}

type OrderCall struct {
	Order Order `json:"order"`
}

type Amount struct {
	SKU    string  `json:"sku"`
	Amount float64 `json:"amount"`
}

type Receipt struct {
	Customer string   `json:"customer"`
	Items    int      `json:"items"`
	Total    float64  `json:"total"`
	Lines    []Amount `json:"lines"`
}

type Count struct {
	Count int `json:"count"`
}

type Search struct {
	Query string `json:"query"`
	Limit int    `json:"limit,omitempty"`
}

type Nothing struct{}

func said(text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}

func echo(_ context.Context, _ *mcp.CallToolRequest, in Text) (*mcp.CallToolResult, any, error) {
	return said(in.Text), nil, nil
}

func search(_ context.Context, _ *mcp.CallToolRequest, in Search) (*mcp.CallToolResult, any, error) {
	return said(in.Query), nil, nil
}

func order(_ context.Context, _ *mcp.CallToolRequest, in OrderCall) (*mcp.CallToolResult, Receipt, error) {
	receipt := Receipt{Customer: in.Order.Customer.Name}
	for _, line := range in.Order.Lines {
		amount := float64(line.Quantity) * line.Price
		receipt.Items += line.Quantity
		receipt.Total += amount
		receipt.Lines = append(receipt.Lines, Amount{line.SKU, amount})
	}
	return nil, receipt, nil
}

func progress(ctx context.Context, request *mcp.CallToolRequest, in Count) (*mcp.CallToolResult, any, error) {
	for number := 1; number <= in.Count; number++ {
		params := &mcp.ProgressNotificationParams{
			ProgressToken: request.Params.GetProgressToken(), Progress: float64(number), Total: float64(in.Count),
		}
		if err := request.Session.NotifyProgress(ctx, params); err != nil {
			return nil, nil, err
		}
	}
	return said("done"), nil, nil
}

func build(tools, page int) *mcp.Server {
	if page == 0 {
		page = 10000
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "bench", Version: "1.0"}, &mcp.ServerOptions{PageSize: page})
	mcp.AddTool(server, &mcp.Tool{Name: "echo", Description: "Return the text."}, echo)
	if tools > 0 {
		for number := range tools - 1 {
			description := fmt.Sprintf("Search catalog %d by title or author.", number)
			mcp.AddTool(server, &mcp.Tool{Name: fmt.Sprintf("search_%04d", number), Description: description}, search)
		}
		return server
	}
	text := strings.Repeat(line, 262144/len(line)+1)[:262144]
	image := make([]byte, 5*1024*1024)
	rand.New(rand.NewSource(7)).Read(image)
	mcp.AddTool(server, &mcp.Tool{Name: "order", Description: "Add up an order."}, order)
	mcp.AddTool(server, &mcp.Tool{Name: "progress", Description: "Report progress so many times."}, progress)
	mcp.AddTool(server, &mcp.Tool{Name: "long_text", Description: "Return 256 KiB of text."},
		func(context.Context, *mcp.CallToolRequest, Nothing) (*mcp.CallToolResult, any, error) {
			return said(text), nil, nil
		})
	mcp.AddTool(server, &mcp.Tool{Name: "picture", Description: "Return a picture of 5 MiB."},
		func(context.Context, *mcp.CallToolRequest, Nothing) (*mcp.CallToolResult, any, error) {
			content := &mcp.ImageContent{Data: image, MIMEType: "image/png"}
			return &mcp.CallToolResult{Content: []mcp.Content{content}}, nil, nil
		})
	return server
}

func main() {
	transport := os.Args[1]
	port, _ := strconv.Atoi(os.Args[2])
	tools, _ := strconv.Atoi(os.Args[3])
	page, _ := strconv.Atoi(os.Args[4])
	server := build(tools, page)
	if transport == "stdio" {
		log.Fatal(server.Run(context.Background(), &mcp.StdioTransport{}))
	}
	_, streams := os.LookupEnv("BENCH_STREAMS")
	handler := mcp.NewStreamableHTTPHandler(
		func(*http.Request) *mcp.Server { return server },
		&mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: !streams},
	)
	http.Handle("/mcp", handler)
	log.Fatal(http.ListenAndServe(fmt.Sprintf("127.0.0.1:%d", port), nil))
}

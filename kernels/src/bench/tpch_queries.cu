// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Both queries run in the same steps:
//
//   1. Orders are scanned. Those of the dates, whose customer has the attribute, are listed, and the
//      bits of their keys are set.
//   2. Lines are scanned. Those with a set bit are listed with their revenue; query 5 also looks up
//      the nation of the supplier.
//   3. The lists are joined by order key: in query 3 by the sort-merge join, after which the lines of
//      an order are adjacent, in query 5 by the resident join.
//   4. Revenues are added up, by order or by nation.

#include "tpch_queries.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "result_line.h"
#include "sort_merge_join.h"
#include "tpch_sales_scans.cuh"

namespace gpujoin::bench {
namespace {

using resident::JoinStatus;
using resident::TableView;

constexpr int RUNS = 5;
// Memory of a list.
class ListMemory {
  public:
    explicit ListMemory(uint64_t capacityRows)
        : keys(capacityRows), payloads(capacityRows), count(1) {}

    RowList list() const { return {keys.data(), payloads.data(), keys.count(), count.data()}; }
    void clear() const { CUDA_CHECK(cudaMemsetAsync(count.data(), 0, count.lengthBytes())); }

    TableView<int64_t> fetchView() const {
        uint64_t rows;
        CUDA_CHECK(cudaMemcpy(&rows, count.data(), sizeof(rows), cudaMemcpyDeviceToHost));
        if (rows > keys.count()) {
            std::fprintf(stderr, "A list of selected rows is too short: rows=%llu, capacity=%llu\n",
                         (unsigned long long)rows, (unsigned long long)keys.count());
            std::exit(1);
        }
        return {keys.data(), payloads.data(), rows};
    }

  private:
    DeviceArray<int64_t> keys;
    DeviceArray<int64_t> payloads;
    DeviceArray<uint64_t> count;
};

// What a query scans, beside the columns of the tables.
struct QueryColumns {
    const int8_t* customerAttributes;
    uint32_t wanted;
    int16_t firstDay;
    int16_t lastDay;
    // Query 3; lines are shipped later.
    bool shipsLater;
};

class SalesQuery {
  public:
    enum Step { ORDERS, LINES, JOIN, GROUPS, STEPS };

    // Room for twice the rows that the queries select.
    SalesQuery(const TpchSalesTables& tables, const QueryColumns& columns)
        : tables(tables),
          columns(columns),
          bits(static_cast<uint64_t>(tables.lastKey()) / 32 + 1),
          orders(tables.orderKeys.count() / 5 + 1000),
          lines(tables.lineKeys.count() / 50 + 1000),
          matchKeys(tables.lineKeys.count() / 50 + 1000),
          matchOrders(matchKeys.count()),
          matchLines(matchKeys.count()),
          matchCount(1),
          ranks(matchKeys.count()),
          deviceAnswer(1) {
        CUDA_CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
    }

    // Returns the milliseconds until the host has the answer. The first run allocates the workspace.
    double run() {
        auto begin = std::chrono::steady_clock::now();
        events[0].record();
        CUDA_CHECK(cudaMemsetAsync(bits.data(), 0, bits.lengthBytes()));
        CUDA_CHECK(cudaMemsetAsync(deviceAnswer.data(), 0, deviceAnswer.lengthBytes()));
        orders.clear();
        lines.clear();
        selectOrders<<<multiprocessors * SCAN_BLOCKS, SCAN_THREADS>>>(orderScan(), orders.list());
        events[1 + ORDERS].record();
        selectLines<<<multiprocessors * SCAN_BLOCKS, SCAN_THREADS>>>(lineScan(), lines.list());
        events[1 + LINES].record();
        TableView<int64_t> build = orders.fetchView();
        TableView<int64_t> probe = lines.fetchView();
        join(build, probe);
        events[1 + JOIN].record();
        // Each selected line has one order.
        addUp(probe.rows);
        events[1 + GROUPS].record();
        CUDA_CHECK(cudaPeekAtLastError());
        CUDA_CHECK(
            cudaMemcpy(&answer, deviceAnswer.data(), sizeof(answer), cudaMemcpyDeviceToHost));
        std::chrono::duration<double, std::milli> total = std::chrono::steady_clock::now() - begin;
        return total.count();
    }

    // Of the last run.
    const SalesAnswer& lastAnswer() const { return answer; }
    uint64_t selectedOrders() const { return orders.fetchView().rows; }
    uint64_t selectedLines() const { return lines.fetchView().rows; }
    double stepMs(Step step) const { return events[1 + step].millisecondsSince(events[step]); }

    // Computes the answer from the numbers of the orders.
    SalesAnswer expected() const {
        const TpchSales& sales = tables.sales;
        DeviceArray<SalesAnswer> result(1);
        CUDA_CHECK(cudaMemset(result.data(), 0, result.lengthBytes()));
        uint32_t blocks = tpchBlocks(sales.rows.orders);
        if (columns.shipsLater) {
            DeviceArray<unsigned long long> orderRanks(sales.rows.orders);
            answerQuery3<<<blocks, TPCH_THREADS>>>(sales, orderRanks.data(), result.data());
            enqueueTopOrders(orderRanks.data(), orderRanks.count(), multiprocessors, result.data());
            CUDA_CHECK(cudaDeviceSynchronize());
        } else {
            answerQuery5<<<blocks, TPCH_THREADS>>>(sales, result.data());
        }
        return fetchAll(result)[0];
    }

    // Bytes of the columns that the scans read from the first row to the last.
    size_t scannedBytes() const {
        return tables.orderKeys.lengthBytes() + tables.orderCustomers.lengthBytes() +
               tables.orderDates.lengthBytes() + tables.lineKeys.lengthBytes() +
               (columns.shipsLater ? tables.shipDates.lengthBytes() : 0);
    }
    // Bytes of all columns that the query names.
    size_t inputBytes() const {
        size_t suppliers =
            tables.lineSuppliers.lengthBytes() + tables.supplierNations.lengthBytes();
        return scannedBytes() + tables.segments.lengthBytes() + tables.prices.lengthBytes() +
               tables.discounts.lengthBytes() + (columns.shipsLater ? 0 : suppliers);
    }

  private:
    DirectKeySet<int64_t> keySet() const {
        return {{bits.data()}, 0, static_cast<uint64_t>(tables.lastKey())};
    }

    OrderScan orderScan() const {
        OrderScan scan{};
        scan.orders.keys = tables.orderKeys.data();
        scan.orders.rows = tables.orderKeys.count();
        scan.orders.condition = {tables.orderDates.data(), nullptr, columns.firstDay,
                                 columns.lastDay, sizeof(int16_t)};
        scan.customers = tables.orderCustomers.data();
        scan.attributes = columns.customerAttributes;
        scan.wanted = columns.wanted;
        scan.dates = tables.orderDates.data();
        scan.keys = keySet();
        return scan;
    }

    LineScan lineScan() const {
        LineScan scan{};
        scan.lines.keys = tables.lineKeys.data();
        scan.lines.rows = tables.lineKeys.count();
        if (columns.shipsLater) {
            scan.lines.condition = {tables.shipDates.data(), nullptr, TpchSales::SHIPPING_DAY + 1,
                                    INT16_MAX, sizeof(int16_t)};
        } else {
            scan.suppliers = tables.lineSuppliers.data();
            scan.nations = tables.supplierNations.data();
            scan.wanted = columns.wanted;
        }
        scan.keys = keySet();
        scan.prices = tables.prices.data();
        scan.discounts = tables.discounts.data();
        return scan;
    }

    MatchColumns<int64_t> matches() const {
        return {matchKeys.data(), matchOrders.data(), matchLines.data(), matchKeys.count(),
                matchCount.data()};
    }

    void join(const TableView<int64_t>& build, const TableView<int64_t>& probe) {
        size_t bytes = columns.shipsLater
                           ? sortmerge::workspaceBytes<int64_t>(build.rows, probe.rows)
                           : resident::workspaceBytes<int64_t>(build.rows, probe.rows);
        if (workspace == nullptr || workspace->count() < bytes) {
            workspace = std::make_unique<DeviceArray<unsigned char>>(bytes);
        }
        JoinStatus status = columns.shipsLater
                                ? sortmerge::joinSorted(build, probe, matches(), workspace->data(),
                                                        bytes, cudaStream_t{})
                                : resident::joinResident(build, probe, matches(), workspace->data(),
                                                         bytes, cudaStream_t{});
        if (status != JoinStatus::OK) {
            std::fprintf(stderr, "The join failed: %s.\n", resident::describe(status));
            std::exit(1);
        }
    }

    void addUp(uint64_t matchRows) const {
        int blocks = 2 * multiprocessors;
        if (columns.shipsLater) {
            addByOrder<<<blocks, TPCH_THREADS>>>(matches(), ranks.data(), deviceAnswer.data());
            enqueueTopOrders(ranks.data(), matchRows, multiprocessors, deviceAnswer.data());
        } else {
            addByNation<<<blocks, TPCH_THREADS>>>(matches(), deviceAnswer.data());
        }
    }

    const TpchSalesTables& tables;
    const QueryColumns columns;
    DeviceArray<uint32_t> bits;
    ListMemory orders;
    ListMemory lines;
    DeviceArray<int64_t> matchKeys;
    DeviceArray<int64_t> matchOrders;
    DeviceArray<int64_t> matchLines;
    DeviceArray<uint64_t> matchCount;
    DeviceArray<unsigned long long> ranks;
    DeviceArray<SalesAnswer> deviceAnswer;
    std::unique_ptr<DeviceArray<unsigned char>> workspace;
    SalesAnswer answer{};
    Event events[1 + STEPS];
    int multiprocessors = 0;
};

// Returns whether the answer is right in all runs.
bool benchQuery(const char* name, const char* algorithm, const TpchSalesTables& tables,
                SalesQuery& query, double readGBs) {
    SalesAnswer expected = query.expected();
    bool correct = true;
    std::vector<double> rounds;
    double stepMs[SalesQuery::STEPS] = {};
    for (int run = 0; run <= RUNS; run++) {
        double ms = query.run();
        correct &= query.lastAnswer() == expected;
        if (run > 0) {
            rounds.push_back(ms);
            for (int step = 0; step < SalesQuery::STEPS; step++) {
                stepMs[step] += query.stepMs(static_cast<SalesQuery::Step>(step)) / RUNS;
            }
        }
    }
    const SalesAnswer& answer = query.lastAnswer();
    uint64_t revenue = 0;
    uint64_t groups = 0;
    for (unsigned long long ofGroup : answer.revenue) {
        revenue += ofGroup;
        groups += ofGroup != 0 ? 1 : 0;
    }
    const TpchRows& rows = tables.sales.rows;
    ResultLine(name)
        .with("scale_factor", rows.orders / TpchRows::ORDERS_PER_SCALE)
        .with("algorithm", algorithm)
        .with("devices", uint64_t{1})
        .with("order_of_rows", rows.isClustered ? "by-key" : "shuffled")
        .with("orders", rows.orders)
        .with("lines", tables.lineKeys.count())
        .with("input_bytes", uint64_t{query.inputBytes()})
        .with("scanned_bytes", uint64_t{query.scannedBytes()})
        .with("selected_orders", query.selectedOrders())
        .with("selected_lines", query.selectedLines())
        .rounds("ms", rounds)
        .checked(correct, answer.orders != 0 ? answer.orders : groups, revenue)
        .with("bound", static_cast<double>(query.scannedBytes()) / readGBs / 1e6)
        .with("bounded_by", "device-read")
        .with("orders_ms", stepMs[SalesQuery::ORDERS])
        .with("lines_ms", stepMs[SalesQuery::LINES])
        .with("join_ms", stepMs[SalesQuery::JOIN])
        .with("groups_ms", stepMs[SalesQuery::GROUPS])
        .print();
    return correct;
}

}  // namespace

bool benchQuery3(uint64_t scale, bool isClustered, double readGBs) {
    TpchSalesTables tables(TpchSales{{scale * TpchRows::ORDERS_PER_SCALE, 0, isClustered}});
    SalesQuery query(tables, {tables.segments.data(), 1u << TpchSales::SEGMENT, 0,
                              TpchSales::SHIPPING_DAY - 1, true});
    bool correct = benchQuery("tpch-q3", "sort-merge", tables, query, readGBs);
    int64_t before = INT64_MAX;
    for (unsigned long long rank : query.lastAnswer().top) {
        int64_t revenue = OrderRank::revenue(rank);
        std::printf("  order %lld: %lld.%04lld\n", (long long)OrderRank::orderKey(rank),
                    (long long)(revenue / 10000), (long long)(revenue % 10000));
        if (revenue == before) {
            std::printf("  WRONG: equal revenues need the date as a second criterion\n");
            correct = false;
        }
        before = revenue;
    }
    return correct;
}

bool benchQuery5(uint64_t scale, bool isClustered, double readGBs) {
    TpchSalesTables tables(TpchSales{{scale * TpchRows::ORDERS_PER_SCALE, 0, isClustered}});
    SalesQuery query(tables, {tables.nations.data(), TpchSales::REGION, TpchSales::YEAR_FIRST_DAY,
                              TpchSales::YEAR_LAST_DAY, false});
    bool correct = benchQuery("tpch-q5", "resident", tables, query, readGBs);
    for (uint32_t nation = 0; nation < TpchSales::NATIONS; nation++) {
        unsigned long long revenue = query.lastAnswer().revenue[nation];
        if (revenue != 0) {
            std::printf("  nation %u: %llu.%04llu\n", nation, revenue / 10000, revenue % 10000);
        }
    }
    return correct;
}

}  // namespace gpujoin::bench

// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.etl.check;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.etl.check.ResultCheck.Outcome;
import io.github.gpujoin.etl.data.Shop;
import org.junit.jupiter.api.Test;

class ResultCheckTest {

    private static final Shop SHOP = new Shop(7, 100, 20);
    private static final int ORDERS = 50;

    private final ResultCheck check = new ResultCheck(SHOP);

    private static ResultRow row(long id, int customerVersion, int productVersion) {
        Shop.Order order = SHOP.order(id);
        return new ResultRow(
                id,
                order.customer(),
                order.product(),
                order.quantity(),
                customerVersion,
                SHOP.segment(order.customer(), customerVersion),
                productVersion,
                SHOP.priceCents(order.product(), productVersion));
    }

    private void addAllBut(long missing) {
        for (long id = 0; id < ORDERS; id++) {
            if (id != missing) {
                check.add(row(id, 1, 1));
            }
        }
    }

    @Test
    void shouldAcceptOneRowOfEachOrder() {
        addAllBut(-1);
        Outcome outcome = check.compare(ORDERS, 0);
        assertThat(outcome.isExact()).isTrue();
        assertThat(outcome.rows()).isEqualTo(ORDERS);
    }

    @Test
    void shouldCountLostOrders() {
        addAllBut(17);
        Outcome outcome = check.compare(ORDERS, 0);
        assertThat(outcome.isExact()).isFalse();
        assertThat(outcome.lost()).isEqualTo(1);
    }

    @Test
    void shouldCountDuplicatesWhateverTheirVersions() {
        addAllBut(-1);
        check.add(row(3, 1, 1));
        check.add(row(3, 2, 1));
        assertThat(check.compare(ORDERS, 100_000).duplicated()).isEqualTo(2);
    }

    @Test
    void shouldCountRowsWhoseValuesAreOfNoVersion() {
        addAllBut(5);
        ResultRow right = row(5, 1, 1);
        check.add(
                new ResultRow(
                        5,
                        right.customer(),
                        right.product(),
                        right.quantity(),
                        1,
                        right.segment(),
                        1,
                        right.priceCents() + 1));
        Outcome outcome = check.compare(ORDERS, 0);
        assertThat(outcome.wrong()).isEqualTo(1);
        assertThat(outcome.firstWrong()).contains("orderId=5");
        assertThat(outcome.isExact()).isFalse();
    }

    @Test
    void shouldCountVersionsThatWereNeverWritten() {
        addAllBut(5);
        check.add(row(5, 2, 1));
        assertThat(check.compare(ORDERS, 0).wrong()).isEqualTo(1);
    }

    @Test
    void shouldCountOrdersThatWereNeverWritten() {
        addAllBut(-1);
        check.add(row(ORDERS, 1, 1));
        assertThat(check.compare(ORDERS, 0).wrong()).isEqualTo(1);
    }

    @Test
    void shouldHaveEqualHashesOnlyForEqualRows() {
        addAllBut(-1);
        ResultCheck other = new ResultCheck(SHOP);
        for (long id = ORDERS - 1; id > 0; id--) {
            other.add(row(id, 1, 1));
        }
        ResultCheck newer = new ResultCheck(SHOP);
        for (long id = 1; id < ORDERS; id++) {
            newer.add(row(id, 1, 1));
        }
        other.add(row(0, 1, 1));
        newer.add(row(0, 2, 1));
        long hash = check.compare(ORDERS, 0).hash();
        assertThat(other.compare(ORDERS, 0).hash()).isEqualTo(hash);
        assertThat(newer.compare(ORDERS, 0).hash()).isNotEqualTo(hash);
    }
}

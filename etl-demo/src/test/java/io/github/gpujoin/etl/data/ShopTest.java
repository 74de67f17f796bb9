// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.etl.data;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class ShopTest {

    private static final Shop SHOP = new Shop(7, 100, 20);

    @Test
    void shouldComputeTheSameOrdersFromTheSameSeed() {
        assertThat(LongStream.range(0, 1_000).mapToObj(new Shop(7, 100, 20)::order))
                .containsExactlyElementsOf(
                        LongStream.range(0, 1_000).mapToObj(SHOP::order).toList());
        assertThat(LongStream.range(0, 100).mapToObj(new Shop(8, 100, 20)::order))
                .isNotEqualTo(LongStream.range(0, 100).mapToObj(SHOP::order).toList());
    }

    @Test
    void shouldReferToRowsThatExist() {
        assertThat(LongStream.range(0, 10_000).mapToObj(SHOP::order))
                .allMatch(order -> order.customer() >= 0 && order.customer() < 100)
                .allMatch(order -> order.product() >= 0 && order.product() < 20)
                .allMatch(order -> order.quantity() > 0);
    }

    @Test
    void shouldHaveAHeavyHitter() {
        long ofFirst =
                LongStream.range(0, 10_000).filter(id -> SHOP.order(id).customer() == 0).count();
        assertThat(ofFirst).isBetween(900L, 1_300L);
    }

    @Test
    void shouldRejectFewerRowsThanPartitions() {
        assertThatThrownBy(() -> new Shop(1, 3, 20))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("customers=3, products=20");
    }
}

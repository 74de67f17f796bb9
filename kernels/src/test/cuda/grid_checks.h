// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Checks of how steps reach blocks: lanes, allotments that change, stops.
#pragma once

#include <atomic>
#include <chrono>

#include "test_device.h"

namespace gpujoin {

// A device with a table of one key and both slots filled with one row each.
struct SmallJoin {
    BuildSide side{{5}, TABLE_UNIQUE};
    std::unique_ptr<Device> device;

    SmallJoin() {
        side.insertAll(1);
        device = std::make_unique<Device>(std::vector<BuildSide*>{&side}, 8);
        device->writeSegment(0, 0, {5});
        device->writeSegment(1, 1, {5});
    }

    uint64_t post(uint32_t slot, uint32_t lane) {
        return device->post(slot, 0, false, slot, 0, lane);
    }

    Completion await(uint32_t slot, uint64_t ticket) {
        Completion done = device->await(slot, 0, ticket);
        REQUIRE(done.status == STEP_OK && done.rowCount == 1);
        return done;
    }
};

inline void shouldRunAStepOnABlockOfItsLane() {
    SmallJoin join;
    join.device->allot({0, 1, 0});
    join.device->start();
    // the first poll applies the allotment and may also find the first step
    join.await(0, join.post(0, 0));
    for (int repeat = 0; repeat < 200; repeat++) {
        uint64_t first = join.post(0, 0);
        uint64_t second = join.post(1, 1);
        REQUIRE(join.await(1, second).block == 1);
        REQUIRE(join.await(0, first).block != 1);
    }
    join.device->stop();
}

inline void shouldServeALaneOnceABlockIsAllottedToIt() {
    SmallJoin join;
    join.device->start();
    uint64_t stranded = join.post(1, 1);
    for (uint32_t repeat = 1; repeat < Device::RING;
         repeat++) {  // one more would overwrite its entry
        join.await(0, join.post(0, 0));
    }
    REQUIRE(!join.device->isDone(1, 0, stranded));
    join.device->allot({0, 0, 1});  // while all blocks wait
    REQUIRE(join.await(1, stranded).block == 2);
    join.device->stop();
}

// Blocks move between lanes continuously; each lane has at least one at any time.
inline void shouldLoseNoStepWhileTheAllotmentChanges(uint64_t seed) {
    std::mt19937_64 random(seed);
    SmallJoin join;
    join.device->allot({0, 1, 0});
    join.device->start();
    for (int repeat = 0; repeat < 300; repeat++) {
        uint64_t first = join.post(0, random() % 2);
        uint64_t second = join.post(1, random() % 2);
        switch (random() % 3) {
            case 0:
                join.device->allot({0, 1, 0});
                break;
            case 1:
                join.device->allot({1, 0, 0});
                break;
            default:
                join.device->allot({1, 1, 0});
                break;
        }
        join.await(0, first);
        join.await(1, second);
    }
    join.device->stop();
}

// Each thread is a block that reads repeatedly; there are more of them than may read concurrently.
inline void shouldLimitConcurrentReadersAndAdmitAllEventually() {
    constexpr uint32_t BLOCKS = 2 * READING_BLOCKS;
    constexpr uint32_t READS = 20;
    ReadGate gate{};
    std::atomic<uint32_t> reading{0};
    std::atomic<uint32_t> most{0};
    auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    std::vector<std::thread> blocks;
    for (uint32_t block = 0; block < BLOCKS; block++) {
        blocks.emplace_back([&] {
            ThreadGroup::Shared alone(1);
            ThreadGroup group(alone, 0);
            for (uint32_t read = 0; read < READS; read++) {
                enterGate(group, gate, READING_BLOCKS);
                uint32_t now = ++reading;
                for (uint32_t seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
                }
                // The first block stays until a second one reads beside it.
                while (most < 2 && std::chrono::steady_clock::now() < deadline) {
                    std::this_thread::yield();
                }
                reading--;
                leaveGate(group, gate);
            }
        });
    }
    for (std::thread& block : blocks) {
        block.join();
    }
    REQUIRE(most > 1 && most <= READING_BLOCKS);
    REQUIRE(gate.entered == BLOCKS * READS && gate.left == gate.entered);
}

// The host counts launches during the life of the process, and the count wraps after 32 bits.
inline void shouldStopAfterAnyNumberOfLaunches() {
    SmallJoin join;
    for (uint64_t before : {0x7FFFFFFEull, 0x7FFFFFFFull, 0xFFFFFFFEull, 0ull}) {
        join.device->launch = before;
        join.device->start();
        join.await(0, join.post(0, 0));
        join.device->stop();
    }
}

// Blocks run all steps posted before a launch, while blocks wait and during a stop, in this launch
// or in the next.
inline void shouldContinueAfterAStopAtAnyTime(uint64_t seed) {
    std::mt19937_64 random(seed);
    SmallJoin join;
    uint32_t lanes = 1 + seed % Device::LANES;
    join.device->lanes = lanes;
    if (lanes > 1) {
        join.device->allot({0, 1, 1});
    }
    for (int repeat = 0; repeat < 60; repeat++) {
        uint64_t tickets[2];
        bool posted[2] = {false, false};
        auto postSome = [&] {
            for (uint32_t slot = 0; slot < 2; slot++) {
                if (!posted[slot] && random() % 2 == 0) {
                    tickets[slot] = join.post(slot, random() % lanes);
                    posted[slot] = true;
                }
            }
        };
        postSome();
        join.device->start();
        postSome();
        join.device->stop();
        postSome();
        join.device->start();
        for (uint32_t slot = 0; slot < 2; slot++) {
            if (posted[slot]) {
                join.await(slot, tickets[slot]);
            }
        }
        join.device->stop();
    }
}

}  // namespace gpujoin

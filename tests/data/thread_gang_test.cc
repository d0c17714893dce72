#include "data/thread_gang.h"

#include <atomic>
#include <csignal>
#include <set>

#include "data_test_support.h"

namespace lockstep::data {
namespace {

using ::testing::Each;

TEST(ThreadGang, EveryPartIsDoneOnce) {
  for (const std::int64_t threads : {-1, 0, 1, 2, 5}) {
    ThreadGang gang(threads);
    EXPECT_EQ(gang.num_threads(), std::max<std::int64_t>(threads, 1));
    for (const std::int64_t parts : {0, 1, 2, 5, 64}) {
      std::vector<std::atomic<int>> done(static_cast<std::size_t>(parts));
      gang.run(parts, [&](std::int64_t part) { ++done[static_cast<std::size_t>(part)]; });
      EXPECT_THAT(std::vector<int>(done.begin(), done.end()), Each(1));
    }
  }
}

TEST(ThreadGang, WhatPartsWriteIsThereWhenTheLoopReturns) {
  ThreadGang gang(4);
  std::vector<std::int64_t> values(7);  // not atomic: the loop's end orders the writes
  for (std::int64_t round = 0; round < 2000; ++round) {
    gang.run(7,
             [&](std::int64_t part) { values[static_cast<std::size_t>(part)] = round * 7 + part; });
    for (std::int64_t part = 0; part < 7; ++part) {
      ASSERT_EQ(values[static_cast<std::size_t>(part)], round * 7 + part);
    }
  }
}

TEST(ThreadGang, PartsRunAtTheSameTime) {
  ThreadGang gang(3);
  std::atomic<int> inside = 0;
  std::mutex mutex;
  std::set<std::thread::id> threads;
  gang.run(3, [&](std::int64_t) {
    ++inside;
    while (inside < 3) std::this_thread::yield();  // only ends if all three are inside
    const std::lock_guard lock(mutex);
    threads.insert(std::this_thread::get_id());
  });
  EXPECT_EQ(threads.size(), 3U);
  EXPECT_TRUE(threads.contains(std::this_thread::get_id()));
}

TEST(ThreadGang, ItsThreadsTakeNoSignals) {
  sigset_t mask;
  std::thread quiet = start_quiet_thread([&] { pthread_sigmask(SIG_SETMASK, nullptr, &mask); });
  quiet.join();
  EXPECT_EQ(sigismember(&mask, SIGINT), 1);
  EXPECT_EQ(sigismember(&mask, SIGTERM), 1);
  sigset_t own;
  pthread_sigmask(SIG_SETMASK, nullptr, &own);
  EXPECT_EQ(sigismember(&own, SIGINT), 0) << "the caller's mask is as it was";
}

TEST(ThreadGang, ThreadsThatTheSystemRefusesAreAnErrorNotTheEnd) {
  if (lockstep::testing::is_sanitized) GTEST_SKIP() << "sanitizers take address space of their own";
  EXPECT_EXIT(
      {
        limit_memory(std::uint64_t{64} << 20U);  // stacks for a few threads only
        try {
          ThreadGang gang(1000);
        } catch (const RuntimeError& error) {
          fprintf(stderr, "%s\n", error.what());
          std::_Exit(7);
        }
        std::_Exit(0);
      },
      ::testing::ExitedWithCode(7), "BatchLoader.*no further thread.*num_threads");
}

}  // namespace
}  // namespace lockstep::data

#include "runner/launch/listening_sockets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "testing/scripted_server.h"

namespace assay::runner {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// As the kernel prints it: 127.0.0.1:8080 listening, 0.0.0.0:8080 listening, a connection of 8080.
constexpr char kTable[] =
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
    "   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 111 1 0 100 "
    "0 0 10 0\n"
    "   1: 00000000:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 222 1 0 100 "
    "0 0 10 0\n"
    "   2: 0100007F:1F90 0100007F:C001 01 00000000:00000000 00:00000000 00000000  1000        0 333 1 0 20 4 "
    "30 10 -1\n"
    "   3: 00000000:0016 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 444 1 0 100 "
    "0 0 10 0\n";

TEST(ParseListeners, LeavesConnectionsOut) {
  const auto listeners = ParseListeners(kTable);
  ASSERT_EQ(listeners.size(), 3u);
  EXPECT_EQ(listeners[0].port, 8080);
  EXPECT_EQ(listeners[0].inode, 111u);
  EXPECT_EQ(listeners[0].address, Listener::Address::kLoopback);
  EXPECT_EQ(listeners[2].port, 22);
}

TEST(MostSpecific, PrefersTheExactAddressAsTheKernelDoes) {
  EXPECT_THAT(MostSpecific(ParseListeners(kTable), 8080), ElementsAre(111));
  EXPECT_THAT(MostSpecific(ParseListeners(kTable), 22), ElementsAre(444));
  EXPECT_THAT(MostSpecific(ParseListeners(kTable), 23), IsEmpty());
}

TEST(ListenersOn, FindsASocketOfThisProcess) {
  const auto server = testing::ScriptedServer::Start({});
  ASSERT_TRUE(server);
  const std::set<uint64_t> listeners = ListenersOn((*server)->Port());
  ASSERT_EQ(listeners.size(), 1u);
  EXPECT_TRUE(SocketsOf({::getpid()}).contains(*listeners.begin()));
}

TEST(FreePort, IsUsedByNobody) {
  const auto port = FreePort();
  ASSERT_TRUE(port);
  EXPECT_THAT(ListenersOn(*port), IsEmpty());
}

}  // namespace
}  // namespace assay::runner

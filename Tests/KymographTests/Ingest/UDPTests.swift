import Kymograph
import KymographCore
import Testing

@Suite struct UDPTests {
    private func lane(
        _ address: String, bufferBytes: Int = 4 << 20, shares: Bool = false, coalesces: Bool = false,
        rest: Int64 = 0
    ) throws -> Lane {
        var configuration = SourceConfiguration(UDPSource(try NetworkAddress(parsing: address)), number: 7)
        configuration.coalesces = coalesces
        configuration.receiveBufferBytes = bufferBytes
        configuration.sharesPort = shares
        configuration.longestRest = rest
        return try Lane([configuration])
    }

    @Test(arguments: ["127.0.0.1:0", "[::1]:0"])
    func handsOnDatagramsOfEverySizeInOrder(address: String) throws {
        let lane = try lane(address)
        let client = Client.udp(lane.address(0))
        let sent = (0..<150).map { String(repeating: "x", count: $0 * 3) } + [String(repeating: "y", count: 65_507)]
        for text in sent { #expect(client.send(text)) }
        let consumer = try lane.collect()
        #expect(consumer.datagrams.map(\.text) == sent)
        #expect(consumer.datagrams.allSatisfy { $0.source == 7 })
        #expect(lane.counts(0).datagrams == 151)
        #expect(lane.counts(0).bytes == UInt64(sent.map(\.utf8.count).reduce(0, +)))
        #expect(lane.counts(0).kernelDrops == 0)
        #expect(consumer.batches >= 3)
    }

    /// What a sender hands to the kernel together arrives datagram by datagram, whether the kernel keeps it together or
    /// not.
    @Test(arguments: [false, true]) func datagramsThatComeTogetherAreHandedOnOneByOne(coalesces: Bool) throws {
        let lane = try lane("127.0.0.1:0", coalesces: coalesces)
        let client = Client.udp(lane.address(0))
        let texts = (0..<90).map { "reading \(100 + $0)" }
        client.segments(of: 11)
        #expect(client.send(texts[..<40].joined()) && client.send(texts[40..<89].joined() + "last"))
        client.segments(of: 0)
        #expect(client.send("single") && client.send(""))
        let consumer = try lane.collect()
        #expect(consumer.datagrams.map(\.text) == texts[..<89] + ["last", "single", ""])
        #expect(lane.counts(0).datagrams == 92 && lane.counts(0).bytes == 89 * 11 + 10)
        // A batch is of 64 messages at the most.
        #expect(consumer.batches == (coalesces ? 1 : 2))
    }

    @Test func countsKernelDropsExactlyBeforeRunning() throws {
        let lane = try lane("127.0.0.1:0", bufferBytes: 8192)
        let client = Client.udp(lane.address(0))
        for number in 0..<5000 { client.send("reading \(number)") }
        let consumer = try lane.collect()
        let counts = lane.counts(0)
        #expect(counts.kernelDrops > 0)
        #expect(counts.datagrams == UInt64(consumer.datagrams.count))
        #expect(counts.datagrams + counts.kernelDrops == 5000)
    }

    /// The lane is held up in the middle, so that drops lie before, between and after received datagrams.
    @Test(arguments: [(8192, 0), (262_144, 500_000)] as [(Int, Int64)])
    func countsKernelDropsExactlyWhileRunning(bufferBytes: Int, rest: Int64) throws {
        let lane = try lane("127.0.0.1:0", bufferBytes: bufferBytes, rest: rest)
        let client = Client.udp(lane.address(0))
        let (reached, mayGoOn) = (Gate(), Gate())
        let thread = TestThread {
            var consumer = RecordingConsumer()
            consumer.onDatagram = { count in
                guard count == 1 else { return }
                reached.open()
                mayGoOn.wait()
            }
            _ = try? lane.run(&consumer)
            return consumer.datagrams.count
        }
        client.send("first")
        reached.wait()
        for number in 1..<20_000 {
            if number == 10_000 { mayGoOn.open() }
            client.send("reading \(number)")
        }
        lane.stop()
        let received = thread.join()
        #expect(lane.counts(0).kernelDrops > 0)
        #expect(UInt64(received) + lane.counts(0).kernelDrops == 20_000)
    }

    @Test(arguments: [0, 500_000] as [Int64]) func stopsWhileUnderLoad(rest: Int64) throws {
        let lane = try lane("127.0.0.1:0", rest: rest)
        let address = lane.address(0)
        let (reached, stopped) = (Gate(), AtomicFlag())
        let sender = TestThread {
            let client = Client.udp(address)
            var sent = 0
            while !stopped.isSet, client.send("reading \(sent)") { sent += 1 }
            return sent
        }
        let reader = TestThread {
            var consumer = RecordingConsumer()
            consumer.onDatagram = { if $0 == 1000 { reached.open() } }
            let end = try? lane.run(&consumer)
            return (end == .stopped, consumer.datagrams.count)
        }
        reached.wait()
        lane.stop()
        let (wasStopped, received) = reader.join()
        stopped.set()
        #expect(wasStopped)
        #expect(received >= 1000)
        #expect(received <= sender.join())
        #expect(lane.counts(0).datagrams == UInt64(received))
    }

    @Test func namesThePortInUse() throws {
        let first = try lane("127.0.0.1:0")
        let error = #expect(throws: SourceError.self) { try Lane([SourceConfiguration(first.address(0))]) }
        #expect(error?.kind == .addressInUse)
        #expect(error?.isRetriable == true)
        #expect(error?.message.contains(first.address(0).name) == true)
    }

    @Test func sharesAPortWhenAsked() throws {
        let first = try lane("127.0.0.1:0", shares: true)
        let second = try lane(String(first.address(0).name.dropFirst(4)), shares: true)
        for _ in 0..<32 { Client.udp(first.address(0)).send("reading") }
        let received = try first.collect().datagrams.count + second.collect().datagrams.count
        #expect(received == 32)
    }

    @Test func reportsTheGrantedBuffer() throws {
        #expect(try lane("127.0.0.1:0", bufferBytes: 65_536).receiveBufferBytes(0) == 65_536)
        #expect(try lane("127.0.0.1:0", bufferBytes: 1).receiveBufferBytes(0) > 1)
    }

    @Test func readsAddresses() throws {
        #expect(try NetworkAddress(parsing: "0.0.0.0:5757") == NetworkAddress(host: "0.0.0.0", port: 5757))
        #expect(try NetworkAddress(parsing: "[::]:1") == NetworkAddress(host: "::", port: 1))
        #expect(try UDPSource(NetworkAddress(parsing: "[::1]:1")).name == "udp [::1]:1")
    }

    @Test(arguments: ["", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "::1:5757", "[127.0.0.1]:1", ":5757", "[]:1"])
    func refusesMalformedAddresses(text: String) {
        let error = #expect(throws: SourceError.self) { try NetworkAddress(parsing: text) }
        #expect(error?.kind == .invalidAddress)
    }

    @Test(arguments: ["monitor.example:1", "999.1.1.1:1", "203.0.113.7:1"])
    func refusesAddressesThatAreNotThisMachines(text: String) {
        let error = #expect(throws: SourceError.self) { try lane(text) }
        #expect(error?.kind == .invalidAddress)
    }
}

import Glibc
import Kymograph
import KymographCore
import Testing

@Suite struct StandardOutputSinkTests {
    private let scratch = Scratch()

    @Test func writesOneBundlePerLine() throws {
        let (reader, writer) = Files.pipe()
        let sink = StandardOutputSink(descriptor: writer)
        try sink.write(ByteView("{\"a\":1}"))
        try sink.write(ByteView("{\"b\":2}\n"))
        try sink.close()
        close(writer)
        #expect(String(decoding: Files.readAll(reader), as: UTF8.self) == "{\"a\":1}\n{\"b\":2}\n")
        #expect(throws: SinkError.self) { try sink.write(ByteView("late")) }
        close(reader)
    }

    @Test func writesMoreThanAPipeHolds() throws {
        let (reader, writer) = Files.pipe()
        _ = fcntl(writer, F_SETFL, O_NONBLOCK)
        let thread = TestThread { Files.readAll(reader) }
        let sink = StandardOutputSink(descriptor: writer)
        let bundle = Array(repeating: UInt8(0x78), count: 300_000)
        for _ in 0..<10 { try bundle.withByteView { bytes in try sink.write(bytes) } }
        try sink.close()
        close(writer)
        #expect(thread.join() == Array(repeatElement(bundle + [0x0A], count: 10).joined()))
        close(reader)
    }

    @Test func reportsAReaderThatHasGone() throws {
        let (reader, writer) = Files.pipe()
        let sink = StandardOutputSink(descriptor: writer)
        close(reader)
        try sink.write(ByteView("{}"))
        let error = #expect(throws: SinkError.self) { try sink.flush() }
        #expect(error?.kind == .brokenPipe)
        #expect(error?.isRetriable == false)
        close(writer)
    }

    @Test func keepsWhatAFullDiskDidNotTake() throws {
        let descriptor = unsafe open("/dev/full", O_WRONLY)
        let sink = StandardOutputSink(descriptor: descriptor)
        try sink.write(ByteView("one"))
        let error = #expect(throws: SinkError.self) { try sink.flush() }
        #expect(error?.kind == .diskFull)
        #expect(error?.isRetriable == true)
        let file = unsafe open(scratch.file("out"), O_WRONLY | O_CREAT, 0o600)
        dup2(file, descriptor)
        try sink.write(ByteView("two"))
        try sink.close()
        #expect(Files.text(scratch.file("out")) == "one\ntwo\n")
        close(file)
        close(descriptor)
    }
}

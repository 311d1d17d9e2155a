import Kymograph
import Testing

/// How serial lines are written.
@Suite struct SerialLineTests {
    @Test(arguments: [
        ("/dev/ttyUSB0:115200", "/dev/ttyUSB0", 115_200, "8N1"), ("/dev/ttyS1:9600,7E1", "/dev/ttyS1", 9_600, "7E1"),
        ("/dev/ttyS1:300,5o2", "/dev/ttyS1", 300, "5O2"),
        (
            "/dev/serial/by-path/pci-0:14.0-usb-0:1:1.0:57600,8N2", "/dev/serial/by-path/pci-0:14.0-usb-0:1:1.0",
            57_600, "8N2"
        ),
    ])
    func reads(text: String, path: String, speed: Int, characters: String) throws {
        let line = try SerialLine(parsing: text)
        #expect(line.path == path && line.speed == speed)
        #expect("\(line.dataBits)\(line.parity.rawValue)\(line.stopBits)" == characters)
    }

    @Test(arguments: [
        ("/dev/ttyUSB0", "it has no speed"), (":9600", "it has no speed"),
        ("/dev/ttyUSB0:fast", "write the speed after the path"), ("/dev/ttyUSB0:-9600", "write the speed"),
        ("/dev/ttyUSB0:12345", "12345 is no speed"), ("/dev/ttyUSB0:99999999999", "is no speed"),
        ("/dev/ttyUSB0:9600,8N3", "'8N3' is not"), ("/dev/ttyUSB0:9600,9N1", "'9N1' is not"),
        ("/dev/ttyUSB0:9600,", "'' is not"), ("/dev/ttyUSB0:9600,8N1,x", "write the speed after the path"),
    ])
    func refuses(text: String, message: String) {
        let error = #expect(throws: SourceError.self) { try SerialLine(parsing: text) }
        #expect(
            error?.kind == .invalidAddress && error?.message.contains(message) == true, "\(String(describing: error))")
    }

    @Test func refusesWhatIsNoSerialLine() throws {
        let scratch = Scratch()
        Files.write(scratch.file("file"), [])
        let line = SerialLine(path: scratch.file("file"), speed: 9_600)
        let error = #expect(throws: SourceError.self) { try Lane([SourceConfiguration(.serial(line))]) }
        #expect(error?.kind == .invalidAddress && error?.message.contains("not a serial line") == true)
    }
}

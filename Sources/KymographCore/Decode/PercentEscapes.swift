/// Texts of URLs and forms without their percent-escapes (RFC 3986, section 2.1), as bytes: what was escaped need not
/// be UTF-8.
package enum PercentEscapes {
    /// `text` without its escapes. What is none stays as it is, so that no two texts become one. `plusIsBlank`: a plus
    /// sign is a blank, as in forms.
    package static func decoded(_ text: ArraySlice<UInt8>, plusIsBlank: Bool = false) -> [UInt8] {
        bytes(text, plusIsBlank, isStrict: false) ?? []
    }

    /// `text` without its escapes; nil when a percent sign begins none.
    package static func strictlyDecoded(_ text: ArraySlice<UInt8>, plusIsBlank: Bool = false) -> [UInt8]? {
        bytes(text, plusIsBlank, isStrict: true)
    }

    private static func bytes(_ text: ArraySlice<UInt8>, _ plusIsBlank: Bool, isStrict: Bool) -> [UInt8]? {
        var (bytes, rest): ([UInt8], ArraySlice<UInt8>) = ([], text)
        bytes.reserveCapacity(text.count)
        while let byte = rest.popFirst() {
            let digits = byte == UInt8(ascii: "%") ? rest.prefix(2).compactMap(JSONUnescape.hexValue) : []
            if digits.count == 2 {
                bytes.append(UInt8(digits[0] << 4 | digits[1]))
                rest = rest.dropFirst(2)
            } else if isStrict, byte == UInt8(ascii: "%") {
                return nil
            } else {
                bytes.append(plusIsBlank && byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
            }
        }
        return bytes
    }
}

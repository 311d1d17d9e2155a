/// The gateway as a resource of bundles.
extension BundleWriter {
    /// Writes the entry of the gateway's Device unless the bundle has it; gives the digest that its UUID is made of.
    @inline(never)
    mutating func requireGateway() -> Digest256.Bytes {
        let kind = encoder.entries.own.gateway
        return encoder.systems.gateway.value.withByteView { value in
            require(
                kind, value,
                foot: """
                    ,"type":{"coding":[{"system":"urn:iso:std:iso:11073:10101","code":"531981",\
                    "display":"MDC_MOC_VMS_MDS_AHD"}]}}
                    """)
        }
    }
}

import CKymographLinux
import Glibc
import KymographCore

/// Receives datagrams many at a time.
///
/// recvmmsg wants message headers that point to each other and stay in place; they are built once and live here, apart
/// from everything that reads datagrams, so that only this file handles their pointers.
@safe
final class DatagramBatch {
    /// Datagrams per system call.
    static let size = 64
    /// Longest datagram; a UDP payload has at most 65,507 bytes, a Unix datagram may have more.
    static let maxBytes = 65_536
    /// From one datagram's place to the next: the padding, plus enough that the places do not all start at the same
    /// offset in their page, where they would compete for the same cache sets.
    private static let stride = maxBytes + 5 * ByteView.padding

    private let memory = ReceiveMemory(capacity: size * stride)
    private let headers: UnsafeMutablePointer<kymo_mmsghdr>
    private let vectors: UnsafeMutablePointer<iovec>
    private let control: UnsafeMutableRawPointer
    private let senders: UnsafeMutablePointer<sockaddr_storage>
    private let controlLength = kymo_control_length()

    init() {
        // Safe: this object alone owns the blocks, and frees them in deinit.
        unsafe headers = .allocate(capacity: DatagramBatch.size)
        unsafe headers.initialize(repeating: kymo_mmsghdr(), count: DatagramBatch.size)
        unsafe vectors = .allocate(capacity: DatagramBatch.size)
        unsafe vectors.initialize(repeating: iovec(), count: DatagramBatch.size)
        unsafe senders = .allocate(capacity: DatagramBatch.size)
        unsafe senders.initialize(repeating: sockaddr_storage(), count: DatagramBatch.size)
        unsafe control = .allocate(byteCount: DatagramBatch.size * controlLength, alignment: 16)
        for index in 0..<DatagramBatch.size { connect(index) }
    }

    deinit {
        // Safe: allocated in init, and nothing outlives the object.
        unsafe headers.deallocate()
        unsafe vectors.deallocate()
        unsafe control.deallocate()
        unsafe senders.deallocate()
    }

    /// Points header `index` to its place in memory and its control buffer.
    private func connect(_ index: Int) {
        // Safe: index < size, and all five blocks have `size` places.
        unsafe vectors[index].iov_base = UnsafeMutableRawPointer(memory.address(of: index * DatagramBatch.stride))
        unsafe vectors[index].iov_len = DatagramBatch.maxBytes
        unsafe headers[index].msg_hdr.msg_iov = vectors + index
        unsafe headers[index].msg_hdr.msg_iovlen = 1
        unsafe headers[index].msg_hdr.msg_name = UnsafeMutableRawPointer(senders + index)
        unsafe headers[index].msg_hdr.msg_control = control + index * controlLength
    }

    /// Takes what waits in the socket, at most ``size`` datagrams. Returns how many, or a negative errno.
    func receive(_ descriptor: Int32) -> Int {
        // Safe: the headers describe memory of this object only.
        unsafe Int(kymo_recvmmsg(descriptor, headers, UInt32(DatagramBatch.size), controlLength))
    }

    /// Received datagram `index`; valid until the next ``receive(_:)``.
    @inline(__always)
    func datagram(_ index: Int) -> ByteView {
        precondition(index >= 0 && index < DatagramBatch.size)
        let start = index * DatagramBatch.stride
        // Safe: checked above. The length never exceeds the place, because MSG_TRUNC is not asked for.
        let length = unsafe Int(headers[index].msg_len)
        return memory.view(start..<(start + length))
    }

    /// Decrypts, where it is, the datagram at `range` of message `index` by the key at `key` of `keys`. False when it
    /// is not as it was sealed: its bytes are then as they came.
    func open(_ range: Range<Int>, at index: Int, by keys: DatagramKeys, _ key: Int) -> Bool {
        precondition(index >= 0 && index < DatagramBatch.size)
        precondition(range.lowerBound >= 0 && range.upperBound <= DatagramBatch.maxBytes)
        // Safe: checked above, and nothing else reads the datagram meanwhile.
        let start = unsafe memory.address(of: index * DatagramBatch.stride + range.lowerBound)
        return unsafe keys.open(start, count: range.count, by: key)
    }

    /// Who has sent datagram `index`; nil where it has no network address.
    func sender(_ index: Int) -> NetworkAddress? {
        precondition(index >= 0 && index < DatagramBatch.size)
        // Safe: checked above, and the kernel has said how much of the address there is.
        return unsafe NetworkAddress.of(senders + index, headers[index].msg_hdr.msg_namelen)
    }

    /// The same in a form that can be compared.
    func endpoint(_ index: Int) -> DatagramEndpoint? {
        precondition(index >= 0 && index < DatagramBatch.size)
        // Safe: as above.
        return unsafe DatagramEndpoint(kymo_endpoint_of(senders + index, headers[index].msg_hdr.msg_namelen))
    }

    /// The local address that datagram `index` came to, where the kernel was asked for it.
    func localAddress(_ index: Int) -> DatagramEndpoint? {
        precondition(index >= 0 && index < DatagramBatch.size)
        // Safe: checked above; the control buffer lives as long as the header.
        return unsafe DatagramEndpoint(kymo_endpoint_local(headers + index))
    }

    /// Whether the kernel cut datagram `index`.
    @inline(__always)
    func isTruncated(_ index: Int) -> Bool {
        precondition(index >= 0 && index < DatagramBatch.size)
        // Safe: checked above.
        return unsafe headers[index].msg_hdr.msg_flags & Int32(MSG_TRUNC) != 0
    }

    /// The length of each datagram but the last that message `index` is made of (UDP_GRO), or 0 when it is one.
    @inline(__always)
    func segmentLength(_ index: Int) -> Int {
        precondition(index >= 0 && index < DatagramBatch.size)
        // Safe: checked above; the control buffer lives as long as the header.
        guard unsafe headers[index].msg_hdr.msg_controllen > 0 else { return 0 }
        return unsafe Int(kymo_segment_length(headers + index))
    }

    /// The drop count that came with datagram `index`, or nil.
    func dropCount(_ index: Int) -> UInt32? {
        precondition(index >= 0 && index < DatagramBatch.size)
        // Safe: checked above; the control buffer lives as long as the header.
        let count = unsafe kymo_overflow_count(headers + index)
        return count < 0 ? nil : UInt32(truncatingIfNeeded: count)
    }
}

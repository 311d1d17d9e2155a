"""A bleak without a radio: devices that tests make, which the bridge finds, connects to and subscribes to."""

import threading


class BleakError(Exception):
    pass


class Characteristic:
    def __init__(self, uuid, properties, value=b""):
        self.uuid = f"0000{uuid.lower()}-0000-1000-8000-00805f9b34fb" if len(uuid) == 4 else uuid
        self.properties, self.value = properties.split(), value


class Service:
    def __init__(self, characteristics):
        self.characteristics = characteristics


class FakeDevice:
    """`ready` is set while the bridge has subscribed to all that notify; the first `failures` connections fail."""

    def __init__(self, characteristics, failures=0):
        self.characteristics, self.failures = characteristics, failures
        self.connections, self.written, self.client = 0, [], None
        self.ready = threading.Event()

    def notify(self, uuid, value):
        """What the device sends, from a test's thread."""
        for characteristic, callback in self.client.callbacks:
            if uuid.lower() in (characteristic.uuid, characteristic.uuid[4:8]):
                self.client.loop.call_soon_threadsafe(callback, characteristic, bytearray(value))

    def drop(self):
        """Goes out of reach."""
        self.ready.clear()
        self.client.loop.call_soon_threadsafe(self.client.disconnected, self.client)


#: Devices in reach, by address.
DEVICES = {}


class BleakScanner:
    @staticmethod
    async def find_device_by_address(address, timeout):
        return DEVICES.get(address)


class BleakClient:
    def __init__(self, device, disconnected_callback, timeout):
        self.device, self.disconnected = device, disconnected_callback
        self.callbacks, self.is_connected = [], False

    async def connect(self):
        import asyncio

        self.loop = asyncio.get_running_loop()
        self.device.connections += 1
        if self.device.connections <= self.device.failures:
            raise BleakError("le-connection-abort-by-local")
        self.device.client, self.is_connected = self, True

    async def disconnect(self):
        self.is_connected = False

    @property
    def services(self):
        return [Service(self.device.characteristics)]

    async def read_gatt_char(self, characteristic):
        if not characteristic.value:
            raise BleakError("Not Authorized")
        return bytearray(characteristic.value)

    async def write_gatt_char(self, characteristic, value, response):
        self.device.written.append((characteristic.uuid[4:8], bytes(value), response))

    async def start_notify(self, characteristic, callback):
        self.callbacks.append((characteristic, callback))
        subscribed = {known.uuid for known, _ in self.callbacks}
        wanted = {each.uuid for each in self.device.characteristics if {"notify", "indicate"} & set(each.properties)}
        if wanted <= subscribed:
            self.device.ready.set()

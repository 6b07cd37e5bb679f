use warpsmith::image::Images;
static IMAGES: Images = Images::none("none");
pub fn load(device: &warpsmith::Device) -> warpsmith::Result<warpsmith::Module> {
    warpsmith::Module::load(device, &IMAGES) //~ is unsafe and requires unsafe block
}

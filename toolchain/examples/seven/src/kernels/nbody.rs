//! The acceleration of bodies by the gravitation of all others.
//!
//! - `bodies`: position and mass (x, y, z, m); `accelerations`: x, y, z and 0, one for each body. G is 1.
//! - `softening`: the square of the distance that is added to every other
//! - grid: one thread per body, in blocks of [`BLOCK`]; a block brings as many bodies at a time to shared memory
//! - shared memory: 4 KiB
//! - deterministic: the bodies are added in order
//! - bound by arithmetic: 12 fused or single operations and one reciprocal square root a pair

use super::*;

#[kernel]
pub fn accelerations(bodies: &[Four<f32>], softening: f32, accelerations: &mut Slots<Four<f32>>) {
    let mut tile = shared!([Four<f32>; 256]);
    let i = thread::index();
    // Bodies past the end have no mass.
    let nothing = Four([0.0; 4]);
    let Four([x, y, z, _]) = bodies.get(i.get()).copied().unwrap_or(nothing);
    let mut sum = [0.0f32; 3];
    let mut first = 0;
    while first < bodies.len() {
        let body = bodies.get(first + thread::in_block() as usize).copied().unwrap_or(nothing);
        let Some(all) = tile.exchange(body).first::<BLOCK>() else { return };
        sum = Below::all().fold(sum, |[ax, ay, az], j| {
            let Four([bx, by, bz, mass]) = all.get(j);
            let (dx, dy, dz) = (bx - x, by - y, bz - z);
            let square = dx.fma(dx, dy.fma(dy, dz.fma(dz, softening)));
            let inverse = warpsmith::math::fast::rsqrt(square);
            let force = mass * inverse * (inverse * inverse);
            [force.fma(dx, ax), force.fma(dy, ay), force.fma(dz, az)]
        });
        first += BLOCK as usize;
    }
    let [ax, ay, az] = sum;
    accelerations.set(i, Four([ax, ay, az, 0.0]));
}

/// Returns the acceleration of one body, to compare with.
#[cfg(not(target_os = "cuda"))]
pub fn expected(bodies: &[Four<f32>], softening: f32, i: usize) -> [f64; 3] {
    let at = |body: &Four<f32>| [0, 1, 2].map(|k| body.0[k] as f64);
    let (own, mut sum) = (at(&bodies[i]), [0.0; 3]);
    for body in bodies {
        let (other, mut square) = (at(body), softening as f64);
        (0..3).for_each(|k| square += (other[k] - own[k]).powi(2));
        (0..3).for_each(|k| sum[k] += body.0[3] as f64 * (other[k] - own[k]) / square.powf(1.5));
    }
    sum
}

/// Returns `n` bodies in a cube.
#[cfg(not(target_os = "cuda"))]
pub fn cube(n: usize) -> Vec<Four<f32>> {
    let numbers = crate::fractions(4 * n);
    numbers.chunks(4).map(|c| Four([c[0], c[1], c[2], (c[3] + 1.0) / n as f32])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpsmith::Result;

    #[warpsmith::test]
    fn are_the_cpus(device: &Device) -> Result {
        let (kernels, stream) = (Kernels::load(device)?, device.stream()?);
        for n in [1, 2, 256, 700] {
            let all = cube(n);
            let (bodies, mut result) = (stream.upload(&all)?, stream.zeroed::<Four<f32>>(n)?);
            kernels.accelerations(&stream, Grid::covering_by(n, BLOCK), (&bodies, 1e-3, &mut result))?;
            for (i, Four(result)) in stream.download(&result)?.into_iter().enumerate() {
                for (own, expected) in result.into_iter().zip(expected(&all, 1e-3, i)) {
                    assert!(
                        (own as f64 - expected).abs() < 1e-4,
                        "body {i} of {n}: {own}, and {expected} expected"
                    );
                }
            }
        }
        Ok(())
    }
}
